import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countCharacters, estimateTokens, promptSize, reservation } from './estimates.ts';
import { charge, type Prices, priceModel } from './pricing.ts';
import { type EndedCall, isSaneUsage, meterCall } from './usage.ts';

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
    ['endless seconds', { input: 90, output: 40, seconds: Number.POSITIVE_INFINITY }],
  ])('rejects a report that is %s', (_, usage) => {
    expect(isSaneUsage(usage, ended({}))).toBe(false);
    expect(meterCall(prices, reserved, ended({ usage })).usage).toEqual({ input: 100, output: 40 });
  });

  test.each([
    ['a little over the window', { input: 1000, cachedInput: 100, output: 500 }],
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

  test('accepts a report of no output when there was none', () => {
    expect(isSaneUsage({ input: 90 }, ended({ charactersSent: 0 }))).toBe(true);
  });
});

describe('stopped call', () => {
  test('costs the reported usage if it covers the visible output', () => {
    const usage = { input: 90, output: 13 };
    expect(meterCall(prices, reserved, ended({ usage, finished: false })).usage).toEqual(usage);
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
