import type { EmbeddingModelV4, EmbeddingModelV4CallOptions } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { failureOf, hello, providerOf } from './scripted.ts';

interface Shape {
  readonly most?: number | undefined;
  readonly parallel?: boolean;
  readonly tokens?: number | undefined;
  readonly version?: string;
  readonly answer?: (call: EmbeddingModelV4CallOptions) => number[][] | Promise<number[][]>;
}

/** Embeds a text as its length, in as many dimensions as asked for. */
function scripted(shape: Shape = {}) {
  const calls: EmbeddingModelV4CallOptions[] = [];
  const open = { now: 0, most: 0 };
  const answer =
    shape.answer ??
    (({ values, dimensions = 2 }) => values.map((value) => new Array<number>(dimensions).fill(value.length)));
  const model = {
    specificationVersion: shape.version ?? 'v4',
    provider: 'test.embedding',
    modelId: 'e',
    maxEmbeddingsPerCall: shape.most,
    supportsParallelCalls: Promise.resolve(shape.parallel ?? false),
    async doEmbed(call: EmbeddingModelV4CallOptions) {
      calls.push(call);
      open.now += 1;
      open.most = Math.max(open.most, open.now);
      await Promise.resolve();
      const embeddings = await answer(call);
      open.now -= 1;
      const usage = 'tokens' in shape ? shape.tokens : 10;
      return { embeddings, warnings: [], ...(usage !== undefined && { usage: { tokens: usage } }) };
    },
  } as EmbeddingModelV4;
  const provider = providerOf(model);
  const embed = (inputs: string[], more: { dimensions?: number } = {}, signal?: AbortSignal) => {
    if (provider.embed === undefined) throw new Error('cannot embed');
    return provider.embed({ model: 'm', inputs, ...more }, signal ? { signal } : {});
  };
  return { calls, open, embed, provider };
}

const texts = (count: number) => Array.from({ length: count }, (_, n) => 'x'.repeat(n + 1));

describe('embeddings', () => {
  test('come in the order of the texts, with their tokens', async () => {
    const { embed, calls } = scripted();
    expect(await embed(['a', 'bbb'])).toEqual({
      embeddings: [
        [1, 1],
        [3, 3],
      ],
      tokens: 10,
    });
    expect(calls[0]).not.toHaveProperty('dimensions');
  });

  test.each([true, false])('of many texts take several calls, in order (parallel: %s)', async (parallel) => {
    const { embed, calls, open } = scripted({ most: 3, parallel });
    const result = await embed(texts(20));
    expect(result.embeddings.map(([length]) => length)).toEqual(texts(20).map((text) => text.length));
    expect(result.tokens).toBe(70);
    expect(calls.map((call) => call.values.length)).toEqual([3, 3, 3, 3, 3, 3, 2]);
    expect(open.most).toBe(parallel ? 4 : 1);
  });

  test('have the dimensions asked for, or fail', async () => {
    const { embed, calls } = scripted();
    expect((await embed(['a'], { dimensions: 3 })).embeddings).toEqual([[1, 1, 1]]);
    expect(calls[0]?.dimensions).toBe(3);
    const stubborn = scripted({ answer: () => [[1, 2]] });
    expect(await failureOf(stubborn.embed(['a'], { dimensions: 3 }))).toMatchObject({
      kind: 'invalid_request',
    });
  });

  test.each(['v2', 'v3'])('of version %s get dimensions by the options of vendors', async (version) => {
    const { embed, calls } = scripted({ version, answer: () => [[1, 2, 3]] });
    await embed(['a'], { dimensions: 3 });
    expect(calls[0]?.providerOptions).toMatchObject({ openai: { dimensions: 3 }, test: { dimensions: 3 } });
    expect(calls[0]).not.toHaveProperty('dimensions');
  });

  test('count tokens themselves when nobody else did', async () => {
    expect((await scripted({ tokens: undefined }).embed(['12345', '123'])).tokens).toBe(4);
    expect((await scripted({ tokens: Number.NaN }).embed(['12345'])).tokens).toBe(2);
  });

  test('that are too few fail', async () => {
    const { embed } = scripted({ answer: () => [[1]] });
    expect(await failureOf(embed(['a', 'b']))).toMatchObject({ kind: 'failed' });
  });

  test('that fail end the calls that are still under way, and start no more', async () => {
    const { embed, calls } = scripted({
      most: 1,
      parallel: true,
      answer({ values, abortSignal }) {
        if (values[0] === 'xx') throw Object.assign(new Error('slow down'), { statusCode: 429 });
        return new Promise((_, reject) => {
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
        });
      },
    });
    expect(await failureOf(embed(texts(20)))).toMatchObject({ kind: 'overloaded' });
    expect(calls.every((call) => call.abortSignal?.aborted)).toBe(true);
    expect(calls.length).toBe(4);
  });

  test('stop when the caller is gone', async () => {
    const gone = new Error('gone');
    const abort = new AbortController();
    const { embed, calls } = scripted({
      answer: ({ abortSignal }) =>
        new Promise((_, reject) => {
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
          abort.abort(gone);
        }),
    });
    expect(await failureOf(embed(['a'], {}, abort.signal))).toBe(gone);
    expect(calls).toHaveLength(1);
    expect(await failureOf(embed(['a'], {}, AbortSignal.abort(gone)))).toBe(gone);
    expect(calls).toHaveLength(1);
  });

  test('cannot be asked for answers', async () => {
    const { provider } = scripted();
    expect(await failureOf(provider.generate(hello, {}))).toMatchObject({ kind: 'invalid_request' });
    expect(provider.models()).toMatchObject([{ id: 'm', type: 'embedding', name: 'm' }]);
  });
});
