import { getEventListeners } from 'node:events';
import type { EmbeddingModelV4, EmbeddingModelV4CallOptions } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { getProvider, hello, toFailure } from './scripted.ts';

interface Shape {
  readonly most?: number | undefined;
  readonly parallel?: boolean;
  readonly tokens?: number | undefined;
  readonly version?: string;
  readonly answer?: (call: EmbeddingModelV4CallOptions) => number[][] | Promise<number[][]>;
}

/** Embeds a text as its length, in the requested number of dimensions. */
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
  const provider = getProvider(model);
  const embed = (inputs: string[], more: { dimensions?: number } = {}, signal?: AbortSignal) => {
    if (provider.embed === undefined) throw new Error('cannot embed');
    return provider.embed({ model: 'm', inputs, ...more }, signal ? { signal } : {});
  };
  return { calls, open, embed, provider };
}

const texts = (count: number) => Array.from({ length: count }, (_, n) => 'x'.repeat(n + 1));

describe('embeddings through the bridge', () => {
  test('returns vectors in the order of the texts, with their tokens', async () => {
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

  test.each([true, false])(
    'splits many texts into several calls and keeps their order (parallel: %s)',
    async (parallel) => {
      const { embed, calls, open } = scripted({ most: 3, parallel });
      const result = await embed(texts(20));
      expect(result.embeddings.map(([length]) => length)).toEqual(texts(20).map((text) => text.length));
      expect(result.tokens).toBe(70);
      expect(calls.map((call) => call.values.length)).toEqual([3, 3, 3, 3, 3, 3, 2]);
      expect(open.most).toBe(parallel ? 4 : 1);
    },
  );

  test('returns the requested dimensions or fails', async () => {
    const { embed, calls } = scripted();
    expect((await embed(['a'], { dimensions: 3 })).embeddings).toEqual([[1, 1, 1]]);
    expect(calls[0]?.dimensions).toBe(3);
    for (const answer of [
      [[1, 2]],
      [
        [1, 2, 3],
        [1, 2],
      ],
    ]) {
      const stubborn = scripted({ answer: () => answer });
      const call = stubborn.embed(answer.map(String), { dimensions: 3 });
      expect(await toFailure(call)).toMatchObject({ kind: 'invalid_request' });
    }
  });

  test.each(['v2', 'v3'])('requests dimensions through vendor options for version %s', async (version) => {
    const { embed, calls } = scripted({ version, answer: () => [[1, 2, 3]] });
    await embed(['a'], { dimensions: 3 });
    expect(calls[0]?.providerOptions).toEqual({
      openai: { dimensions: 3 },
      google: { outputDimensionality: 3 },
      cohere: { outputDimension: 3 },
      test: { dimensions: 3, outputDimensionality: 3, outputDimension: 3 },
    });
    expect(calls[0]?.abortSignal).toBeInstanceOf(AbortSignal);
    expect(calls[0]).not.toHaveProperty('dimensions');
  });

  test('estimates tokens when the model reports none', async () => {
    expect((await scripted({ tokens: undefined }).embed(['12345', '123'])).tokens).toBe(4);
    expect((await scripted({ tokens: Number.NaN }).embed(['12345'])).tokens).toBe(2);
  });

  test('makes no empty call', async () => {
    const { embed, calls } = scripted({ most: 3 });
    await embed(texts(6));
    expect(calls.map((call) => call.values.length)).toEqual([3, 3]);
    expect(await embed([])).toEqual({ embeddings: [], tokens: 0 });
    expect(calls).toHaveLength(2);
  });

  test('starts no call after an abort, and leaves no listener', async () => {
    const abort = new AbortController();
    const { embed, calls } = scripted({
      most: 1,
      answer({ values }) {
        if (values[0] === 'xx') abort.abort(new Error('gone'));
        return [[1, 1]];
      },
    });
    expect((await embed(['x'], {}, abort.signal)).embeddings).toHaveLength(1);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
    expect(await toFailure(embed(texts(4), {}, abort.signal))).toBe(abort.signal.reason);
    expect(calls).toHaveLength(3);
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  test('fails when there are fewer vectors than texts', async () => {
    const { embed } = scripted({ answer: () => [[1]] });
    expect(await toFailure(embed(['a', 'b']))).toMatchObject({ kind: 'failed' });
  });

  test('stops running calls and starts no more after a failure', async () => {
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
    expect(await toFailure(embed(texts(20)))).toMatchObject({ kind: 'overloaded' });
    expect(calls.every((call) => call.abortSignal?.aborted)).toBe(true);
    expect(calls.length).toBe(4);
  });

  test('stops when the caller aborts', async () => {
    const gone = new Error('gone');
    const abort = new AbortController();
    const { embed, calls } = scripted({
      answer: ({ abortSignal }) =>
        new Promise((_, reject) => {
          abortSignal?.addEventListener('abort', () => reject(abortSignal.reason));
          abort.abort(gone);
        }),
    });
    expect(await toFailure(embed(['a'], {}, abort.signal))).toBe(gone);
    expect(calls).toHaveLength(1);
    expect(await toFailure(embed(['a'], {}, AbortSignal.abort(gone)))).toBe(gone);
    expect(calls).toHaveLength(1);
  });

  test('rejects a request for an answer', async () => {
    const { provider } = scripted();
    expect(await toFailure(provider.generate(hello, {}))).toMatchObject({ kind: 'invalid_request' });
    expect(provider.models()).toMatchObject([{ id: 'm', type: 'embedding', name: 'm' }]);
  });
});
