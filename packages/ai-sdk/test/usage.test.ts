import { describe, expect, test } from 'vitest';
import { toUsage } from '../src/usage.ts';

const NONE = undefined;

describe('usage of versions 3 and 4', () => {
  const nested = (input: object, output: object) =>
    toUsage(
      {
        inputTokens: { total: NONE, noCache: NONE, cacheRead: NONE, cacheWrite: NONE, ...input },
        outputTokens: { total: NONE, text: NONE, reasoning: NONE, ...output },
      },
      'test.chat',
    );

  test.each([
    [{}, {}, NONE],
    [{ cacheRead: 1 }, { text: 4 }, NONE],
    [{ total: 1 }, {}, { input: 1, output: 0 }],
    [{ noCache: 2 }, {}, { input: 2, output: 0 }],
    [{}, { total: 3 }, { input: 0, output: 3 }],
    [
      { total: 5, cacheRead: 9 },
      { total: 2, reasoning: 7 },
      { input: 0, cachedInput: 9, output: 0, reasoning: 7 },
    ],
    [{ total: 9, cacheRead: 2, cacheWrite: 3 }, {}, { input: 4, cachedInput: 2, cacheWrite: 3, output: 0 }],
  ])('of %j and %j is %j', (input, output, expected) => {
    expect(nested(input, output)).toEqual(expected);
  });
});

describe('usage of version 2', () => {
  const flat = (counts: object, vendor = 'test.chat', metadata?: Parameters<typeof toUsage>[2]) =>
    toUsage({ inputTokens: NONE, outputTokens: NONE, totalTokens: NONE, ...counts }, vendor, metadata);

  test.each([
    [{}, NONE],
    [{ totalTokens: 7, reasoningTokens: 7 }, NONE],
    [{ inputTokens: 5 }, { input: 5, output: 0 }],
    [{ outputTokens: 5 }, { input: 0, output: 5 }],
    // Cached input is a part of the input, unless it is larger.
    [
      { inputTokens: 5, cachedInputTokens: 5 },
      { input: 0, output: 0, cachedInput: 5 },
    ],
    [
      { inputTokens: 5, cachedInputTokens: 6 },
      { input: 5, output: 0, cachedInput: 6 },
    ],
    [
      { outputTokens: 1, cachedInputTokens: 1 },
      { input: 0, output: 1, cachedInput: 1 },
    ],
    // Reasoning is a part of the output, unless it is larger or the total says otherwise.
    [
      { outputTokens: 5, reasoningTokens: 5 },
      { input: 0, output: 0, reasoning: 5 },
    ],
    [
      { outputTokens: 5, reasoningTokens: 6 },
      { input: 0, output: 5, reasoning: 6 },
    ],
    [
      { inputTokens: 1, reasoningTokens: 1 },
      { input: 1, output: 0, reasoning: 1 },
    ],
    [
      { inputTokens: 3, outputTokens: 5, reasoningTokens: 2, totalTokens: 9 },
      { input: 3, output: 3, reasoning: 2 },
    ],
    [
      { inputTokens: 3, outputTokens: 5, reasoningTokens: 2, totalTokens: 10 },
      { input: 3, output: 5, reasoning: 2 },
    ],
    [
      { outputTokens: 5, reasoningTokens: 2, totalTokens: 7 },
      { input: 0, output: 5, reasoning: 2 },
    ],
    [
      { inputTokens: 5, reasoningTokens: 0, totalTokens: 5 },
      { input: 5, output: 0 },
    ],
  ])('of %j is %j', (counts, expected) => {
    expect(flat(counts)).toEqual(expected);
  });

  test('counts cached input of Anthropic apart, with its cache writes', () => {
    const counts = { inputTokens: 5, outputTokens: 1, cachedInputTokens: 2 };
    const metadata = { anthropic: { cacheCreationInputTokens: 4 } };
    expect(flat(counts, 'anthropic.messages', metadata)).toEqual({
      input: 5,
      output: 1,
      cachedInput: 2,
      cacheWrite: 4,
    });
    expect(flat(counts, 'amazon-bedrock')).toEqual({ input: 5, output: 1, cachedInput: 2 });
    const none = { anthropic: { cacheCreationInputTokens: null } };
    expect(flat(counts, 'anthropic.messages', none)).toEqual({ input: 5, output: 1, cachedInput: 2 });
  });

  test('may be absent', () => {
    expect(toUsage(undefined, 'test.chat')).toBeUndefined();
  });
});
