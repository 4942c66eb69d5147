import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../ports/ledger.ts';
import type { PriceTier } from '../ports/models.ts';
import { fromCredits, toCredits, toUsd } from './amounts.ts';
import { reservation } from './estimates.ts';
import { charge, type Prices, priceModel, pricesAt } from './pricing.ts';

const runs = { numRuns: 2000, seed: 20261121 };

function getPrices(usd: Parameters<typeof priceModel>[1]): Prices {
  const prices = priceModel('text', { input: 0, output: 0, ...usd });
  if (prices === undefined) throw new Error('unpriced');
  return prices;
}

/** Whole numbers of every size, including zero and the largest exact one. */
const count = (max: number) =>
  fc.oneof(
    fc.nat({ max: 100 }),
    fc.maxSafeNat().map((n) => n % (max + 1)),
  );

const anyPrices = fc.record({
  input: count(10 ** 12),
  output: count(10 ** 12),
  cachedInput: count(10 ** 12),
  cacheWrite: count(10 ** 12),
  reasoning: count(10 ** 12),
  image: count(10 ** 9),
  second: count(10 ** 9),
  thousandCharacters: count(10 ** 9),
  megabyte: count(10 ** 9),
});
const anyTokens = fc.record(
  {
    input: count(10 ** 7),
    output: count(10 ** 7),
    cachedInput: count(10 ** 7),
    cacheWrite: count(10 ** 7),
    reasoning: count(10 ** 7),
  },
  { requiredKeys: [] },
);

describe('prices', () => {
  test('are USD per million tokens times credits per USD, in micro-credits', () => {
    expect(getPrices({ input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75, reasoning: 16 })).toEqual({
      input: 300_000_000,
      output: 1_500_000_000,
      cachedInput: 30_000_000,
      cacheWrite: 375_000_000,
      reasoning: 1_600_000_000,
      image: 0,
      second: 0,
      thousandCharacters: 0,
      megabyte: 0,
    });
    expect(priceModel('text', { input: 0.15, output: 0.6 }, 1000)?.input).toBe(150_000_000);
  });

  test('a missing cache price is the input price, a missing reasoning price the output price', () => {
    const prices = getPrices({ input: 2, output: 8 });
    expect([prices.cachedInput, prices.cacheWrite, prices.reasoning]).toEqual([2e8, 2e8, 8e8]);
    expect(getPrices({ input: 2, output: 8, cachedInput: 0 }).cachedInput).toBe(0);
  });

  test('are frozen', () => {
    expect(Object.isFrozen(getPrices({ input: 1 }))).toBe(true);
  });

  test.each([
    ['text', undefined],
    ['text', {}],
    ['text', { input: 1 }],
    ['text', { output: 1 }],
    ['text', { input: 1, output: -1 }],
    ['text', { input: Number.NaN, output: 1 }],
    ['text', { input: 1e300, output: 1 }],
    ['image', { input: 1 }],
    ['video', { image: 1 }],
    // A job states the duration of a video, but no tokens.
    ['video', { output: 1 }],
    ['embedding', { output: 1 }],
    // Recordings are charged by their bytes.
    ['speech-to-text', { second: 0.0001 }],
  ] as const)('cannot be sold: %s with %j', (type, usd) => {
    expect(priceModel(type, usd)).toBeUndefined();
  });

  test.each([
    ['embedding', { input: 0.02 }],
    ['image', { image: 0.04 }],
    ['image', { input: 5, output: 40 }],
    ['speech-to-text', { megabyte: 0.006 }],
    ['sound-effect', { second: 0.002 }],
    ['text-to-speech', { thousandCharacters: 0.015 }],
    ['video', { second: 0.1 }],
    ['music', { second: 0.01 }],
    ['text', { input: 0, output: 0 }],
  ] as const)('can be sold: %s with %j', (type, usd) => {
    expect(priceModel(type, usd)).toBeDefined();
  });
});

describe('a second of video', () => {
  const video = priceModel('video', {
    second: 0.14,
    secondByResolution: { '480p': 0.08, '1080p': 0.25 },
  }) as Prices;

  test.each([
    ['480p', 8_000_000],
    ['720p', 14_000_000],
    ['1080p', 25_000_000],
  ] as const)('at %s costs %i micro-credits', (resolution, second) => {
    const prices = pricesAt(video, resolution);
    expect(prices).toMatchObject({ second });
    expect(charge(prices, { seconds: 8 })).toBe(8 * second);
    expect(Object.isFrozen(prices)).toBe(true);
  });

  test('of one resolution only has its own price there', () => {
    const prices = priceModel('video', { second: 0.1, secondByResolution: { '4k': 1 } }) as Prices;
    expect(charge(pricesAt(prices, '4k'), { seconds: 1 })).toBe(100_000_000);
    expect(charge(pricesAt(prices, '720p'), { seconds: 1 })).toBe(10_000_000);
    expect(Object.isFrozen(prices.secondByResolution)).toBe(true);
    const single = priceModel('video', { second: 0.1 }) as Prices;
    expect(single).not.toHaveProperty('secondByResolution');
    expect(pricesAt(single, '4k').second).toBe(10_000_000);
  });

  test('without a usable price cannot be sold', () => {
    expect(priceModel('video', { second: 0.1, secondByResolution: { '4k': -1 } })).toBeUndefined();
    expect(priceModel('video', { secondByResolution: { '4k': 1 } })).toBeUndefined();
  });
});

describe('prices of larger inputs', () => {
  const usd = { input: 3, output: 15 };
  const price = (...tiers: readonly PriceTier[]) => priceModel('text', usd, 100, tiers) as Prices;
  const doubled = { aboveInputTokens: 1000, prices: { input: 6, output: 30, cachedInput: 1 } };
  const tripled = { aboveInputTokens: 2000, prices: { input: 9, output: 45, reasoning: 50 } };

  test.each([
    [{ input: 1000, output: 1 }, 1000 * 300 + 1500],
    [{ input: 1001, output: 1 }, 1001 * 600 + 3000],
    [{ input: 500, cachedInput: 300, cacheWrite: 201 }, 701 * 600 + 300 * 100],
    [{ cachedInput: 1001, reasoning: 2 }, 1001 * 100 + 2 * 3000],
    [{ input: 2001, output: 1, reasoning: 1 }, 2001 * 900 + 4500 + 5000],
    [{ output: 5000 }, 5000 * 1500],
    [{ cachedInput: 999, cacheWrite: 1 }, 1000 * 300],
    [{ input: 1000 }, 1000 * 300],
  ])('select the tier of the whole input: %j', (usage, amount) => {
    // In any order.
    expect(charge(price(doubled, tripled), usage)).toBe(amount);
    expect(charge(price(tripled, doubled), usage)).toBe(amount);
  });

  test('keep the prices of media', () => {
    const prices = priceModel('text', { ...usd, image: 0.04 }, 100, [doubled]) as Prices;
    expect(charge(prices, { input: 1001, images: 1 })).toBe(1001 * 600 + 4_000_000);
  });

  test('end at the first tier without a usable price', () => {
    const unknown = { aboveInputTokens: 1500, prices: { input: 9 } };
    const prices = price(tripled, unknown, doubled);
    expect(prices.inputLimit).toBe(1500);
    expect(prices.tiers).toEqual([expect.objectContaining({ aboveInputTokens: 1000, input: 600_000_000 })]);
    expect(price({ ...unknown, aboveInputTokens: 7 })).toEqual({ ...price(), inputLimit: 7 });
    expect(price()).not.toHaveProperty('inputLimit');
    expect(price(doubled)).not.toHaveProperty('inputLimit');
  });

  test('are frozen', () => {
    for (const prices of [price(), price(doubled)]) expect(Object.isFrozen(prices)).toBe(true);
  });

  test('do not make a model with no price usable', () => {
    expect(priceModel('text', undefined, 100, [doubled])).toBeUndefined();
  });
});

describe('charge', () => {
  test('rounds the smallest part up', () => {
    expect(charge({ ...getPrices({}), input: 1 }, { input: 1 })).toBe(1);
  });

  test('rounds up once, after adding', () => {
    const prices = getPrices({ input: 0.000_001, output: 0.000_001 });
    expect(prices.input).toBe(100);
    expect(charge(prices, { input: 1, output: 1 })).toBe(1);
    expect(charge(prices, { input: 5000, output: 5000 })).toBe(1);
    expect(charge(prices, { input: 5000, output: 5001 })).toBe(2);
    expect(charge(prices, {})).toBe(0);
  });

  test('costs the amount of the price list', () => {
    const prices = getPrices({ input: 3, output: 15, cachedInput: 0.3 });
    // Input 1,000, cache read 9,000, cache write 2,000: 0.003 + 0.0027 + 0.03 USD.
    const amount = charge(prices, { input: 1000, cachedInput: 9000, output: 2000 });
    expect(toUsd(amount)).toBe(0.0357);
    expect(toCredits(amount)).toBe(3.57);
  });

  test('of tokens equals exact arithmetic, also far beyond 2^53', () => {
    let beyond = 0;
    fc.assert(
      fc.property(anyPrices, anyTokens, (prices, usage) => {
        let sum = 0n;
        for (const [name, tokens] of Object.entries(usage)) {
          sum += BigInt(tokens) * BigInt(prices[name as keyof typeof usage]);
        }
        if (sum > 2n ** 53n) beyond++;
        expect(charge(prices, usage)).toBe(Number((sum + 999_999n) / 1_000_000n));
      }),
      runs,
    );
    expect(beyond).toBeGreaterThan(100);
  });

  test('of media equals exact arithmetic over one common fraction', () => {
    const anyMedia = fc.record({
      images: count(1000),
      milliseconds: count(10 ** 7),
      characters: count(10 ** 6),
      bytes: count(10 ** 9),
      tokens: anyTokens,
    });
    fc.assert(
      fc.property(anyPrices, anyMedia, (prices, { images, milliseconds, characters, bytes, tokens }) => {
        const usage: Usage = { ...tokens, images, seconds: milliseconds / 1000, characters, bytes };
        const scale = 10n ** 6n * 2n ** 20n;
        let sum = BigInt(images) * BigInt(prices.image) * scale;
        sum += (BigInt(milliseconds) * BigInt(prices.second) * scale) / 1000n;
        sum += (BigInt(characters) * BigInt(prices.thousandCharacters) * scale) / 1000n;
        sum += (BigInt(bytes) * BigInt(prices.megabyte) * scale) / 2n ** 20n;
        for (const [name, value] of Object.entries(tokens)) {
          sum += (BigInt(value) * BigInt(prices[name as keyof typeof tokens]) * scale) / 1_000_000n;
        }
        expect(charge(prices, usage)).toBe(Number((sum + scale - 1n) / scale));
      }),
      runs,
    );
  });

  test('never decreases when usage grows, and parts never cost less than the whole', () => {
    fc.assert(
      fc.property(anyPrices, anyTokens, anyTokens, (prices, a, b) => {
        const both: Record<string, number> = { ...a };
        for (const [name, tokens] of Object.entries(b)) both[name] = (both[name] ?? 0) + tokens;
        const whole = charge(prices, both);
        expect(whole).toBeGreaterThanOrEqual(charge(prices, a));
        expect(charge(prices, a) + charge(prices, b)).toBeGreaterThanOrEqual(whole);
        expect(charge(prices, a) + charge(prices, b)).toBeLessThanOrEqual(whole + 1);
      }),
      runs,
    );
  });

  test('of one image, second, thousand characters and megabyte is the price of one', () => {
    const prices = priceModel('image', {
      image: 0.04,
      second: 0.1,
      thousandCharacters: 0.015,
      megabyte: 0.25,
    });
    if (prices === undefined) throw new Error('unpriced');
    expect(toUsd(charge(prices, { images: 1 }))).toBe(0.04);
    expect(toUsd(charge(prices, { seconds: 1.5 }))).toBe(0.15);
    expect(toUsd(charge(prices, { characters: 1000 }))).toBe(0.015);
    expect(toUsd(charge(prices, { bytes: 2 ** 20 }))).toBe(0.25);
  });

  test('rejects invalid counts', () => {
    const prices = getPrices({ input: 3, output: 15 });
    expect(() => charge(prices, { input: 0.123_456_789 })).toThrow(RangeError);
    expect(() => charge(prices, { input: Number.NaN })).toThrow(RangeError);
    expect(() => charge({ ...prices, input: 2 ** 52 }, { input: 2 ** 52 })).toThrow(RangeError);
  });
});

describe('reservation', () => {
  const prices = getPrices({ input: 3, output: 15 });

  test('is the estimated input and all of the output', () => {
    // ceil(101 / 2.5) = 41 tokens in, 4096 out.
    expect(reservation(prices, { characters: 101, images: 0, maxTokens: 4096 })).toBe(41 * 300 + 4096 * 1500);
    expect(reservation(prices, { characters: 0, images: 2, maxTokens: 1 })).toBe(2000 * 300 + 1500);
  });

  test('equals the formula for every size', () => {
    fc.assert(
      fc.property(
        anyPrices,
        count(10 ** 8),
        fc.nat({ max: 100 }),
        count(10 ** 7),
        (some, characters, images, maxTokens) => {
          const input = (BigInt(characters) * 2n + 4n) / 5n + BigInt(images) * 1000n;
          const sum = input * BigInt(some.input) + BigInt(maxTokens) * BigInt(some.output);
          const expected = Number((sum + 999_999n) / 1_000_000n);
          expect(reservation(some, { characters, images, maxTokens })).toBe(expected);
        },
      ),
      runs,
    );
  });
});

describe('amounts on the wire', () => {
  test('have at most 6 decimals, no exponent, and convert back unchanged', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.nat(),
          fc.maxSafeInteger().map((n) => n % 10 ** 15),
        ),
        (microCredits) => {
          const text = JSON.stringify(toCredits(microCredits));
          expect(text).toMatch(/^-?\d+(\.\d{1,6})?$/);
          expect(fromCredits(toCredits(microCredits))).toBe(microCredits);
        },
      ),
      runs,
    );
  });

  test('rejects invalid credits', () => {
    expect(() => fromCredits(1e12)).toThrow(RangeError);
    expect(() => fromCredits(Number.NaN)).toThrow(RangeError);
    expect(fromCredits(0.1 + 0.2)).toBe(300_000);
  });
});
