import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import {
  finish,
  getAnswer,
  getProvider,
  hello,
  scripted,
  spoken,
  textParts,
  toFailure,
  usage,
} from './scripted.ts';

const signed = (signature: string) => ({ vendor: { signature } });

function call(id: string, input: string, more = {}): LanguageModelV4StreamPart {
  return { type: 'tool-call', toolCallId: id, toolName: 'sum', input, ...more };
}

describe('answer of the bridge', () => {
  test('returns text, usage and a finish reason', async () => {
    const { model } = scripted([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r', modelId: 'x' },
      ...textParts('Hel', '', 'lo'),
      { type: 'ping' },
      { type: 'raw', rawValue: {} },
      finish,
    ]);
    expect(await getAnswer(model)).toEqual([
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
  ] as const)('maps the finish reason %s to %s', async (unified, reason) => {
    const { model } = scripted([{ ...finish, finishReason: { unified, raw: undefined } }]);
    expect((await getAnswer(model)).at(-1)).toEqual({ type: 'finish', reason });
  });

  test.each(['error', 'interrupted'] as const)(
    'fails after its usage when it finishes with %s',
    async (unified) => {
      const { model } = scripted([
        ...textParts('Hi'),
        { ...finish, finishReason: { unified, raw: undefined } },
      ]);
      const stream = await getProvider(model).generate(hello, {});
      const iterator = stream[Symbol.asyncIterator]();
      expect((await iterator.next()).value).toContainEqual({
        type: 'usage',
        usage: { input: 12, output: 5 },
      });
      await expect(iterator.next()).rejects.toMatchObject({ name: 'ProviderError', kind: 'failed' });
      expect((await iterator.next()).done).toBe(true);
    },
  );

  test('fails when the stream stops without a finish part', async () => {
    const { model } = scripted(textParts('Hi'));
    expect(await toFailure(getAnswer(model))).toMatchObject({ kind: 'failed' });
  });

  test('fails with the reported error and cancels the stream', async () => {
    const { model, cancelled, calls } = scripted((controller) => {
      for (const part of textParts('Hi')) controller.enqueue(part);
      controller.enqueue({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } });
    });
    expect(await toFailure(getAnswer(model))).toMatchObject({ kind: 'overloaded', message: 'bridge: busy' });
    expect(cancelled).toHaveLength(1);
    expect(calls[0]?.abortSignal?.aborted).toBe(true);
  });

  test('returns tool calls without those that the vendor ran itself', async () => {
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
    expect(await getAnswer(model)).toEqual([
      { type: 'tool_use_delta', index: 0, id: 'a', name: 'sum', arguments: '' },
      { type: 'tool_use_delta', index: 0, arguments: '{"x":1}' },
      { type: 'tool_use', id: 'a', name: 'sum', arguments: '{"x":1}' },
      // Without deltas: one complete call.
      { type: 'tool_use_delta', index: 1, id: 'b', name: 'sum', arguments: '{}' },
      { type: 'tool_use', id: 'b', name: 'sum', arguments: '{}' },
      { type: 'usage', usage: { input: 12, output: 5 } },
      { type: 'finish', reason: 'tool_use' },
    ]);
  });

  test('omits an incomplete tool call from a cut answer and fails for one in a complete answer', async () => {
    const half = call('a', '{"x":');
    const cut = scripted([half, { ...finish, finishReason: { unified: 'length', raw: undefined } }]);
    expect((await getAnswer(cut.model)).map((part) => part.type)).toEqual(['usage', 'finish']);
    const whole = scripted([half, finish]);
    expect(await toFailure(getAnswer(whole.model))).toMatchObject({ kind: 'malformed_answer' });
    const list = scripted([call('a', '[1]'), finish]);
    expect(await toFailure(getAnswer(list.model))).toMatchObject({ kind: 'malformed_answer' });
  });
});

describe('reasoning of the bridge', () => {
  test('streams reasoning as progress and returns a block with the last metadata', async () => {
    const { model } = scripted([
      { type: 'reasoning-start', id: 'r', providerMetadata: signed('early') },
      { type: 'reasoning-delta', id: 'r', delta: 'Let me ' },
      { type: 'reasoning-delta', id: 'r', delta: 'think.' },
      { type: 'reasoning-delta', id: 'r', delta: '', providerMetadata: signed('late') },
      { type: 'reasoning-end', id: 'r' },
      ...textParts('Done.'),
      finish,
    ]);
    expect((await getAnswer(model)).slice(0, 4)).toEqual([
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

  test('keeps a block without text only if it has metadata, and closes an open block', async () => {
    const { model } = scripted([
      { type: 'reasoning-start', id: 'a', providerMetadata: { vendor: { redactedData: 'xyz' } } },
      { type: 'reasoning-end', id: 'a' },
      { type: 'reasoning-start', id: 'b' },
      { type: 'reasoning-end', id: 'b' },
      { type: 'reasoning-start', id: 'c' },
      { type: 'reasoning-delta', id: 'c', delta: 'open' },
      finish,
    ]);
    const blocks = (await getAnswer(model)).flatMap((part) => (part.type === 'thinking' ? [part.block] : []));
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

describe('usage of the bridge', () => {
  const counted = async (counts: LanguageModelV4Usage) => {
    const parts = await getAnswer(scripted([...textParts('Hi'), { ...finish, usage: counts }]).model);
    const part = parts.find((one) => one.type === 'usage');
    return part?.type === 'usage' ? part.usage : undefined;
  };
  const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const noOutput = { total: undefined, text: undefined, reasoning: undefined };

  test('splits usage into classes that do not overlap', async () => {
    expect(
      await counted({
        inputTokens: { total: 100, noCache: 30, cacheRead: 50, cacheWrite: 20 },
        outputTokens: { total: 40, text: 25, reasoning: 15 },
      }),
    ).toEqual({ input: 30, cachedInput: 50, cacheWrite: 20, output: 25, reasoning: 15 });
  });

  test('splits usage by the counts that are present', async () => {
    expect(
      await counted({
        inputTokens: { ...none, total: 100, cacheRead: 60 },
        outputTokens: { ...noOutput, total: 40, reasoning: 10 },
      }),
    ).toEqual({ input: 40, cachedInput: 60, output: 30, reasoning: 10 });
    // Tokens of other kinds, such as audio, are only in the total.
    expect(
      await counted({
        inputTokens: { ...none, total: 7 },
        outputTokens: { total: 40, text: 20, reasoning: 10 },
      }),
    ).toEqual({ input: 7, output: 30, reasoning: 10 });
  });

  test('returns no usage when the model counts nothing', async () => {
    expect(await counted({ inputTokens: none, outputTokens: noOutput })).toBeUndefined();
  });

  test('assigns every token when the total exceeds its parts', async () => {
    expect(
      await counted({
        inputTokens: { total: 10, noCache: 10, cacheRead: 90, cacheWrite: 0 },
        outputTokens: { total: 5, text: 5, reasoning: 50 },
      }),
    ).toEqual({ input: 10, cachedInput: 90, output: 5, reasoning: 50 });
    expect(usage.inputTokens.total).toBe(12);
  });
});

test('delivers the parts to the reader in the order of the model', async () => {
  const words = Array.from({ length: 1000 }, (_, n) => `${n} `);
  const { model } = scripted([...textParts(...words), finish]);
  expect(spoken(await getAnswer(model))).toBe(words.join(''));
});
