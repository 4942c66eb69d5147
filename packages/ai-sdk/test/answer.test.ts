import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import {
  answerOf,
  failureOf,
  finish,
  hello,
  providerOf,
  scripted,
  spoken,
  textParts,
  usage,
} from './scripted.ts';

const signed = (signature: string) => ({ vendor: { signature } });

function call(id: string, input: string, more = {}): LanguageModelV4StreamPart {
  return { type: 'tool-call', toolCallId: id, toolName: 'sum', input, ...more };
}

describe('an answer', () => {
  test('is text, usage and a reason', async () => {
    const { model } = scripted([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r', modelId: 'x' },
      ...textParts('Hel', '', 'lo'),
      { type: 'ping' },
      { type: 'raw', rawValue: {} },
      finish,
    ]);
    expect(await answerOf(model)).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'usage', usage: { input: 12, output: 5 } },
      { type: 'finish', reason: 'stop', model: 'x' },
    ]);
  });

  test.each([
    ['stop', 'stop'],
    ['length', 'max_tokens'],
    ['tool-calls', 'tool_use'],
    ['content-filter', 'content_filter'],
    ['other', 'other'],
  ] as const)('finishes %s as %s', async (unified, reason) => {
    const { model } = scripted([{ ...finish, finishReason: { unified, raw: undefined } }]);
    expect((await answerOf(model)).at(-1)).toEqual({ type: 'finish', reason });
  });

  test.each(['error', 'interrupted'] as const)(
    'that finishes with %s fails, after its usage',
    async (unified) => {
      const { model } = scripted([
        ...textParts('Hi'),
        { ...finish, finishReason: { unified, raw: undefined } },
      ]);
      const stream = await providerOf(model).generate(hello, {});
      const iterator = stream[Symbol.asyncIterator]();
      expect((await iterator.next()).value).toContainEqual({
        type: 'usage',
        usage: { input: 12, output: 5 },
      });
      await expect(iterator.next()).rejects.toMatchObject({ name: 'ProviderError', kind: 'failed' });
      expect((await iterator.next()).done).toBe(true);
    },
  );

  test('that stops without a finish fails', async () => {
    const { model } = scripted(textParts('Hi'));
    expect(await failureOf(answerOf(model))).toMatchObject({ kind: 'failed' });
  });

  test('that is told to be an error fails as that error, and the stream is cancelled', async () => {
    const { model, cancelled, calls } = scripted((controller) => {
      for (const part of textParts('Hi')) controller.enqueue(part);
      controller.enqueue({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } });
    });
    expect(await failureOf(answerOf(model))).toMatchObject({ kind: 'overloaded', message: 'bridge: busy' });
    expect(cancelled).toHaveLength(1);
    expect(calls[0]?.abortSignal?.aborted).toBe(true);
  });

  test('calls tools, without those that the vendor ran itself', async () => {
    const { model } = scripted([
      { type: 'tool-input-start', id: 'a', toolName: 'sum' },
      { type: 'tool-input-delta', id: 'a', delta: '{"x":1}' },
      { type: 'tool-input-end', id: 'a' },
      call('a', '{"x":1}'),
      call('b', ''),
      call('c', '{}', { providerExecuted: true }),
      { type: 'tool-result', toolCallId: 'c', toolName: 'sum', result: 3 },
      { ...finish, finishReason: { unified: 'stop', raw: undefined } },
    ]);
    expect(await answerOf(model)).toEqual([
      { type: 'tool_use', id: 'a', name: 'sum', arguments: '{"x":1}' },
      { type: 'tool_use', id: 'b', name: 'sum', arguments: '{}' },
      { type: 'usage', usage: { input: 12, output: 5 } },
      { type: 'finish', reason: 'tool_use' },
    ]);
  });

  test('cut in the middle of a call leaves the half call out; half a call in a whole answer fails', async () => {
    const half = call('a', '{"x":');
    const cut = scripted([half, { ...finish, finishReason: { unified: 'length', raw: undefined } }]);
    expect((await answerOf(cut.model)).map((part) => part.type)).toEqual(['usage', 'finish']);
    const whole = scripted([half, finish]);
    expect(await failureOf(answerOf(whole.model))).toMatchObject({ kind: 'failed' });
    const list = scripted([call('a', '[1]'), finish]);
    expect(await failureOf(answerOf(list.model))).toMatchObject({ kind: 'failed' });
  });
});

describe('reasoning', () => {
  test('comes as progress and as a block with the metadata that came last', async () => {
    const { model } = scripted([
      { type: 'reasoning-start', id: 'r', providerMetadata: signed('early') },
      { type: 'reasoning-delta', id: 'r', delta: 'Let me ' },
      { type: 'reasoning-delta', id: 'r', delta: 'think.' },
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: signed('late') },
      { type: 'reasoning-end', id: 'r' },
      ...textParts('Done.'),
      finish,
    ]);
    expect((await answerOf(model)).slice(0, 4)).toEqual([
      { type: 'thinking_delta', text: 'Let me ' },
      { type: 'thinking_delta', text: 'think.' },
      {
        type: 'thinking',
        block: {
          type: 'thinking',
          thinking: 'Let me think.',
          vendor: 'test.chat',
          providerMetadata: signed('late'),
        },
      },
      { type: 'text', text: 'Done.' },
    ]);
  });

  test('without text is kept for its metadata, without either it is not; one left open is closed', async () => {
    const { model } = scripted([
      { type: 'reasoning-start', id: 'a', providerMetadata: { vendor: { redactedData: 'xyz' } } },
      { type: 'reasoning-end', id: 'a' },
      { type: 'reasoning-start', id: 'b' },
      { type: 'reasoning-end', id: 'b' },
      { type: 'reasoning-start', id: 'c' },
      { type: 'reasoning-delta', id: 'c', delta: 'open' },
      finish,
    ]);
    const blocks = (await answerOf(model)).flatMap((part) => (part.type === 'thinking' ? [part.block] : []));
    expect(blocks).toEqual([
      {
        type: 'thinking',
        thinking: '',
        vendor: 'test.chat',
        providerMetadata: { vendor: { redactedData: 'xyz' } },
      },
      { type: 'thinking', thinking: 'open', vendor: 'test.chat' },
    ]);
  });
});

describe('usage', () => {
  const counted = async (counts: LanguageModelV4Usage) => {
    const parts = await answerOf(scripted([...textParts('Hi'), { ...finish, usage: counts }]).model);
    const part = parts.find((one) => one.type === 'usage');
    return part?.type === 'usage' ? part.usage : undefined;
  };
  const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const noOutput = { total: undefined, text: undefined, reasoning: undefined };

  test('is split into classes that do not overlap', async () => {
    expect(
      await counted({
        inputTokens: { total: 100, noCache: 30, cacheRead: 50, cacheWrite: 20 },
        outputTokens: { total: 40, text: 25, reasoning: 15 },
      }),
    ).toEqual({ input: 30, cachedInput: 50, cacheWrite: 20, output: 25, reasoning: 15 });
  });

  test('is split by what is there', async () => {
    expect(
      await counted({
        inputTokens: { ...none, total: 100, cacheRead: 60 },
        outputTokens: { ...noOutput, total: 40, reasoning: 10 },
      }),
    ).toEqual({ input: 40, cachedInput: 60, output: 30, reasoning: 10 });
    // Tokens of other kinds, audio for one, are in the total only.
    expect(
      await counted({
        inputTokens: { ...none, total: 7 },
        outputTokens: { total: 40, text: 20, reasoning: 10 },
      }),
    ).toEqual({ input: 7, output: 30, reasoning: 10 });
  });

  test('is absent when nobody counted', async () => {
    expect(await counted({ inputTokens: none, outputTokens: noOutput })).toBeUndefined();
  });

  test('loses no token to a total that leaves a part out', async () => {
    expect(
      await counted({
        inputTokens: { total: 10, noCache: 10, cacheRead: 90, cacheWrite: 0 },
        outputTokens: { total: 5, text: 5, reasoning: 50 },
      }),
    ).toEqual({ input: 10, cachedInput: 90, output: 5, reasoning: 50 });
    expect(usage.inputTokens.total).toBe(12);
  });
});

test('what the model says is what the reader reads, in order', async () => {
  const words = Array.from({ length: 1000 }, (_, n) => `${n} `);
  const { model } = scripted([...textParts(...words), finish]);
  expect(spoken(await answerOf(model))).toBe(words.join(''));
});
