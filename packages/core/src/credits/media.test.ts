import { describe, expect, test } from 'vitest';
import type { Usage } from '../ports/ledger.ts';
import { meterMedia, meterRecording } from './media.ts';
import { type Prices, priceModel } from './pricing.ts';

const MEGABYTE = 2 ** 20;

describe('an image or audio call', () => {
  const prices = priceModel('image', { image: 0.04, output: 40, second: 0.1 }) as Prices;

  test.each<[string, Usage, Usage | undefined, Usage, number]>([
    ['what was requested, without a report', { images: 2 }, undefined, { images: 2 }, 8_000_000],
    ['what was reported', { images: 2 }, { images: 1 }, { images: 1 }, 4_000_000],
    ['also reported tokens', { images: 1 }, { output: 1 }, { images: 1, output: 1 }, 4_004_000],
    ['what was requested, if no unit is reported', { images: 1 }, { images: 0 }, { images: 1 }, 4_000_000],
    ['what was requested, if the report is absurd', { images: 1 }, { images: -1 }, { images: 1 }, 4_000_000],
    [
      'a report with units of nothing',
      { images: 2 },
      { images: 1, output: 0 },
      { images: 1, output: 0 },
      4_000_000,
    ],
    ['no part of an absurd report', { images: 1 }, { images: 2, output: -1 }, { images: 1 }, 4_000_000],
    ['seconds and tokens', { seconds: 8 }, { seconds: 2, output: 1 }, { seconds: 2, output: 1 }, 20_004_000],
    ['fewer seconds', { seconds: 8 }, { seconds: 2 }, { seconds: 2 }, 20_000_000],
    ['no more seconds than requested', { seconds: 8 }, { seconds: 9 }, { seconds: 8 }, 80_000_000],
    ['the requested seconds, without a report', { seconds: 8 }, undefined, { seconds: 8 }, 80_000_000],
    [
      'reported seconds, if none were requested',
      { images: 1 },
      { seconds: 1 },
      { images: 1, seconds: 1 },
      14_000_000,
    ],
    [
      'what was requested, if the report is not countable',
      { images: 1 },
      { output: Number.MAX_SAFE_INTEGER },
      { images: 1 },
      4_000_000,
    ],
  ])('costs %s', (_, most, counted, usage, amount) => {
    expect(meterMedia(prices, most, counted)).toEqual({ usage, amount });
    expect(meterMedia(undefined, most, { ...counted, output: 1 }).amount).toBe(0);
  });

  test('has a usage and costs nothing without prices', () => {
    expect(meterMedia(undefined, { images: 2 }, { images: 1 })).toEqual({ usage: { images: 1 }, amount: 0 });
  });

  test('has no seconds unless they were requested or reported', () => {
    expect(meterMedia(prices, { images: 1 }, undefined).usage).toStrictEqual({ images: 1 });
  });

  test('is not free if what was requested is not countable', () => {
    expect(() => meterMedia(prices, { images: Number.MAX_SAFE_INTEGER }, undefined)).toThrow(RangeError);
  });
});

describe('a transcription', () => {
  const price = (usd: object) => priceModel('speech-to-text', { megabyte: 1, ...usd }) as Prices;
  const bySize = { usage: { bytes: MEGABYTE }, amount: 100_000_000 };

  test.each<[string, object, Usage | undefined, object]>([
    ['its size, without a report', { second: 0.1 }, undefined, bySize],
    ['its size, without a price of what is reported', {}, { seconds: 2, input: 1 }, bySize],
    ['its size, if nothing is reported', { second: 0.1, input: 1 }, { seconds: 0 }, bySize],
    ['its seconds', { second: 0.1 }, { seconds: 2 }, { usage: { seconds: 2 }, amount: 20_000_000 }],
    [
      'its seconds rather than its tokens',
      { second: 0.1, input: 1 },
      { seconds: 2, input: 7 },
      { usage: { seconds: 2 }, amount: 20_000_000 },
    ],
    [
      'its tokens without seconds',
      { second: 1, input: 1 },
      { input: 1 },
      { usage: { input: 1, output: 0 }, amount: 100 },
    ],
    ['its tokens', { input: 1 }, { input: 2 }, { usage: { input: 2, output: 0 }, amount: 200 }],
    [
      'its output, if only output has a price',
      { output: 1 },
      { seconds: 3, output: 2 },
      { usage: { input: 0, output: 2 }, amount: 200 },
    ],
    [
      'its size, if the seconds are negative',
      { second: 1 },
      { seconds: -1 },
      { ...bySize, rejected: { seconds: -1 } },
    ],
    [
      'the longest plausible duration',
      { second: 0.0001 },
      { seconds: (MEGABYTE * 8) / 500 },
      { usage: { seconds: (MEGABYTE * 8) / 500 }, amount: 167_772_160 },
    ],
    [
      'its size, if it is too small for the seconds',
      { second: 1 },
      { seconds: (MEGABYTE * 8) / 500 + 1 },
      { ...bySize, rejected: { seconds: (MEGABYTE * 8) / 500 + 1 } },
    ],
  ])('costs %s', (_, usd, counted, cost) => {
    expect(meterRecording(price(usd), MEGABYTE, counted)).toEqual(cost);
    expect(meterRecording(undefined, MEGABYTE, counted)).toEqual({ usage: { bytes: MEGABYTE }, amount: 0 });
  });

  test('of a few bytes costs its tokens', () => {
    expect(meterRecording(price({ input: 1 }), 7, { input: 1 })).toMatchObject({ amount: 100 });
  });
});
