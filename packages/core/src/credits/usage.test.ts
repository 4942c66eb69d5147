import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCharacters } from '../shared/characters.ts';
import { estimateTokens, promptSize, reservation } from './estimates.ts';
import { charge, type Prices, priceModel } from './pricing.ts';
import { type EndedCall, isSaneUsage, type LeftCall, meterCall, meterLeftCall } from './usage.ts';

const prices = priceModel('text', { input: 3, output: 15 }) as Prices;

const prompt = { characters: 250, images: 0 };
const maxTokens = 500;
const reserved = reservation(prices, { ...prompt, maxTokens });

function ended(call: Partial<EndedCall>): EndedCall {
  return { prompt, charactersSent: 100, finished: true, contextWindow: 1000, maxTokens, ...call };
}

describe('counting of characters', () => {
  test('counts code points in any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        expect(countCharacters(a + b)).toBe([...(a + b)].length);
      }),
    );
    for (const text of ['', 'a', '\uD83D', '\uDE00', '\uDE00\uD83D', '\uD83D\uD83D\uDE00', 'x\uD83D\uDE00']) {
      expect(countCharacters(text)).toBe([...text].length);
    }
  });

  test('estimates a token per 2.5 characters, rounded up', () => {
    expect([0, 1, 2, 3, 5, 6, 250].map(estimateTokens)).toEqual([0, 1, 1, 2, 2, 3, 100]);
  });

  test('includes text, tool traffic and tool schemas of a prompt; images are counted separately', () => {
    const size = promptSize({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'abc' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'h\u{1F600}' },
            { type: 'image', mediaType: 'image/png', data: 'AAAA' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', block: { type: 'x' } },
            { type: 'tool_use', id: 'ignored', name: 'sum', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', toolUseId: 'i', toolName: 'sum', content: '42', isError: false }],
        },
      ],
      tools: [{ name: 'sum', description: 'Adds.', parameters: { type: 'object' } }],
    });
    const expected =
      3 + 2 + '{"type":"x"}'.length + 3 + '{"a":1}'.length + 2 + 3 + 5 + '{"type":"object"}'.length;
    expect(size).toEqual({ characters: expected, images: 1 });
  });

  test('counts the bytes of a text document; any other document counts as an image per 32 KB', () => {
    const document = (mediaType: string, bytes: number) =>
      promptSize({
        messages: [
          {
            role: 'user',
            content: [
              { type: 'document', mediaType, name: 'd', data: Buffer.alloc(bytes).toString('base64') },
            ],
          },
        ],
      });
    expect(document('text/plain', 300)).toEqual({ characters: 300, images: 0 });
    expect(document('application/pdf', 33 * 1024)).toEqual({ characters: 0, images: 2 });
  });
});

describe('completed call', () => {
  test('costs the reported usage, even above the reservation', () => {
    const usage = { input: 90, output: 40 };
    expect(meterCall(prices, reserved, ended({ usage }))).toEqual({
      usage,
      amount: charge(prices, usage),
      reported: true,
    });
    const large = meterCall(prices, 10, ended({ usage }));
    expect(large.amount).toBe(charge(prices, usage));
  });

  test('costs the estimate without a report', () => {
    expect(meterCall(prices, reserved, ended({}))).toEqual({
      usage: { input: 100, output: 40 },
      amount: 100 * 300 + 40 * 1500,
      reported: false,
    });
    expect(meterCall(prices, reserved, ended({}))).not.toHaveProperty('rejected');
  });

  test.each([
    ['negative', { input: -1, output: 40 }],
    ['a fraction', { input: 1.5, output: 40 }],
    ['not a number', { input: 90, output: Number.NaN }],
    ['endless', { input: 90, output: Number.POSITIVE_INFINITY }],
    ['beyond counting', { input: 2 ** 53, output: 40 }],
    ['more than the model holds', { input: 1000, cachedInput: 300, output: 301 }],
    ['no input', { output: 40 }],
    ['no output', { input: 90 }],
    ['nothing at all', {}],
    ['more by one token than the model holds', { input: 1101, output: 500 }],
    ['a negative duration', { input: 90, output: 40, seconds: -0.5 }],
    ['more seconds than are countable', { input: 90, output: 40, seconds: 2 ** 53 / 1000 + 1 }],
    ['half an image', { input: 90, output: 40, images: 0.5 }],
    ['endless seconds', { input: 90, output: 40, seconds: Number.POSITIVE_INFINITY }],
  ])('rejects a report that is %s', (_, usage) => {
    expect(isSaneUsage(usage, ended({}))).toBe(false);
    expect(meterCall(prices, reserved, ended({ usage })).usage).toEqual({ input: 100, output: 40 });
  });

  test.each([
    ['a little over the window', { input: 1000, cachedInput: 100, output: 500 }],
    ['a little over the window, without the cache', { input: 1100, output: 500 }],
    ['a little over the window, from the cache', { cachedInput: 1100, output: 500 }],
    ['a little over the window, by reasoning', { input: 1100, reasoning: 500 }],
    ['of media', { input: 90, output: 40, images: 1, seconds: 0.5, characters: 3, bytes: 5 }],
    ['of no media', { input: 90, output: 40, images: 0, seconds: 0, characters: 0, bytes: 0 }],
    ['of the longest duration', { input: 90, output: 40, seconds: Number.MAX_SAFE_INTEGER / 1000 }],
    ['all from the cache', { input: 0, cachedInput: 100, output: 30 }],
    ['all written to the cache', { cacheWrite: 100, output: 30 }],
    ['only reasoning', { input: 90, output: 0, reasoning: 30 }],
    ['few long tokens', { input: 90, output: 1 }],
  ])('accepts a report that is %s', (_, usage) => {
    expect(isSaneUsage(usage, ended({}))).toBe(true);
  });

  test('limits the report of a model without a known window only by exact integers', () => {
    expect(isSaneUsage({ input: 10 ** 9, output: 1 }, ended({ contextWindow: 0 }))).toBe(true);
  });

  test('limits the report of a model with the smallest window', () => {
    expect(isSaneUsage({ input: 90, output: 1 }, ended({ contextWindow: 1, maxTokens: 1 }))).toBe(false);
  });

  test('accepts a report of no input for an empty prompt', () => {
    expect(isSaneUsage({ output: 1 }, ended({ prompt: { characters: 0, images: 0 } }))).toBe(true);
  });

  test('of the shortest prompt is rejected without input, and accepted with one token', () => {
    const call = ended({ prompt: { characters: 1, images: 0 } });
    expect(isSaneUsage({ output: 1 }, call)).toBe(false);
    expect(isSaneUsage({ input: 1, output: 1 }, call)).toBe(true);
  });

  test('is not charged by a report that is no object', () => {
    const call = { prompt: { characters: 0, images: 0 }, charactersSent: 0 };
    for (const usage of ['text', null] as unknown[]) {
      const cost = meterCall(prices, reserved, ended({ ...call, usage: usage as EndedCall['usage'] }));
      expect(cost).toEqual({ usage: { input: 0, output: 0 }, amount: 0, reported: false, rejected: usage });
    }
  });

  test('is recorded with the report that was rejected', () => {
    const usage = { input: 90 };
    expect(meterCall(prices, reserved, ended({ usage })).rejected).toEqual(usage);
    expect(meterCall(prices, reserved, ended({ usage, finished: false }))).not.toHaveProperty('rejected');
  });

  test('accepts a report of no output when there was none', () => {
    expect(isSaneUsage({ input: 90 }, ended({ charactersSent: 0 }))).toBe(true);
  });
});

describe('stopped call', () => {
  test('costs the reported usage if it covers the visible output', () => {
    const usage = { input: 90, output: 13 };
    expect(meterCall(prices, reserved, ended({ usage, finished: false })).usage).toEqual(usage);
  });

  test('costs the reported usage if its tokens are just long enough', () => {
    const usage = { input: 90, output: 13 };
    const call = { usage, finished: false };
    expect(meterCall(prices, reserved, ended({ ...call, charactersSent: 104 })).reported).toBe(true);
    expect(meterCall(prices, reserved, ended({ ...call, charactersSent: 105 })).reported).toBe(false);
  });

  test('costs the estimate if the report was made before the output', () => {
    const usage = { input: 90, output: 1 };
    expect(meterCall(prices, reserved, ended({ usage, finished: false })).usage).toEqual({
      input: 100,
      output: 40,
    });
  });

  test('never costs more than the reservation by estimate', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 7 }), fc.boolean(), (charactersSent, finished) => {
        const { amount } = meterCall(prices, reserved, ended({ charactersSent, finished }));
        expect(amount).toBeLessThanOrEqual(reserved);
      }),
    );
    expect(meterCall(prices, reserved, ended({ charactersSent: 10 ** 6 })).amount).toBe(reserved);
  });
});

describe('call whose client left', () => {
  const left = (call: Partial<LeftCall>, limit = reserved) =>
    meterLeftCall(prices, limit, {
      ...{ prompt, charactersSent: 100, contextWindow: 1000, maxTokens },
      ...{ isReportFinal: false, charactersReported: 0, unseen: 0, ...call },
    });

  test('costs the input and the received output without a report', () => {
    expect(left({})).toEqual({ usage: { input: 100, output: 40 }, amount: 90_000, reported: false });
    expect(left({ charactersSent: 101 }).usage).toEqual({ input: 100, output: 41 });
  });

  test.each([
    [10, { input: 100, output: 40 }],
    [41, { input: 100, output: 40, reasoning: 1 }],
    [60, { input: 100, output: 40, reasoning: 20 }],
    [500, { input: 100, output: 40, reasoning: 460 }],
    [10_000, { input: 100, output: 40, reasoning: 460 }],
  ])('costs %i possible tokens, up to the output limit', (unseen, usage) => {
    expect(left({ unseen }).usage).toEqual(usage);
  });

  test('never costs more than the reservation', () => {
    expect(left({ unseen: 500 }, 50_000).amount).toBe(50_000);
  });

  test.each<[string, Partial<LeftCall>, object]>([
    ['for the input', { usage: { input: 90 } }, { input: 90, output: 40 }],
    [
      'for the output received before it',
      { usage: { input: 90, cachedInput: 10, output: 30 }, charactersReported: 50 },
      { input: 90, cachedInput: 10, output: 50 },
    ],
    [
      'for a single token',
      { usage: { input: 90, output: 1 }, charactersSent: 105, charactersReported: 5 },
      { input: 90, output: 41 },
    ],
    [
      'for reasoning',
      { usage: { input: 90, output: 10, reasoning: 30 }, charactersReported: 25 },
      { input: 90, output: 40, reasoning: 30 },
    ],
    [
      'beyond the output limit',
      { usage: { input: 90, output: 600 }, contextWindow: 0, charactersReported: 100 },
      { input: 90, output: 600 },
    ],
    [
      'for nothing, if it is less than the received output implies',
      { usage: { input: 90, output: 1 }, charactersReported: 100 },
      { input: 100, output: 40 },
    ],
    [
      'for nothing, if it is no object',
      { usage: null as unknown as LeftCall['usage'], charactersReported: 100 },
      { input: 100, output: 40 },
    ],
  ])('believes an interim report %s', (_, call, usage) => {
    expect(left(call).usage).toEqual(usage);
    expect(left(call).reported).toBe(false);
  });

  test('costs the final report, also if it is less than the estimate', () => {
    const usage = { input: 90, output: 1 };
    expect(left({ usage, isReportFinal: true })).toEqual({ usage, amount: 28_500, reported: true });
  });

  test('costs the estimate if the final report is implausible', () => {
    const usage = { input: 1_000_000, output: 1 };
    expect(left({ usage, isReportFinal: true })).toEqual({
      ...{ usage: { input: 100, output: 40 }, amount: 90_000, reported: false },
      rejected: usage,
    });
  });

  test('is recorded with a report that costs more, or cannot be counted', () => {
    const usage = { input: 90, output: 10 };
    const call = { usage, charactersSent: 1000, charactersReported: 1000 };
    expect(left(call, 42_000)).not.toHaveProperty('rejected');
    expect(left(call, 41_999).rejected).toEqual(usage);
    const uncountable = { input: Number.NaN };
    expect(left({ usage: uncountable }).rejected).toEqual(uncountable);
    expect(left({})).not.toHaveProperty('rejected');
  });
});
