import { describe, expect, it } from 'vitest';
import { MUSIC_INPUT, VIDEO_INPUT, VIDEO_MODEL } from '../../../test/generations.ts';
import { priceModel } from '../../credits/pricing.ts';
import { dueOfCancelled, getDue, getPrices, getReservation } from './money.ts';
import { videoSize } from './video-size.ts';

describe('the money for a result', () => {
  const prices = priceModel('video', VIDEO_MODEL.prices);
  if (prices === undefined) throw new Error('no prices');
  const large = { ...VIDEO_INPUT, resolution: '1080p' } as const;

  it('follows the resolution', () => {
    expect(getReservation(getPrices(prices, large), large, 5)).toBe(24_000_000);
    expect(getReservation(getPrices(prices, VIDEO_INPUT), VIDEO_INPUT, 5)).toBe(8_000_000);
    expect(getPrices(prices, MUSIC_INPUT)).toBe(prices);
  });

  it('is never more than for what was requested', () => {
    const record = { prices, input: VIDEO_INPUT };
    expect(getDue(record, { seconds: undefined, bytes: 5 })).toEqual({
      ...{ amount: 8_000_000, usage: { seconds: 8, characters: 6, bytes: 5 } },
    });
    expect(getDue(record, { seconds: 9, bytes: 5 }).amount).toBe(8_000_000);
    expect(getDue(record, { seconds: 2, bytes: 5 }).amount).toBe(2_000_000);
    expect(getDue(record, { seconds: 8, bytes: 5, usage: { seconds: 3 } }).amount).toBe(3_000_000);
  });

  it('of a cancelled one is at most what is held', () => {
    const record = { prices, input: VIDEO_INPUT, reserved: 5_000_000 };
    const usage = { seconds: 8, characters: 6, bytes: 0 };
    expect(dueOfCancelled(record)).toEqual({ amount: 5_000_000, usage });
    expect(dueOfCancelled({ ...record, reserved: 9_000_000 }).amount).toBe(8_000_000);
    expect(dueOfCancelled(record, { bytes: 5, usage: { seconds: 2 } }).amount).toBe(2_000_000);
    const bySize = {
      prices: priceModel('video', { byte: 1 } as never) ?? prices,
      input: VIDEO_INPUT,
      reserved: 7,
    };
    const free = { ...bySize, prices: { ...prices, second: 0 } };
    expect(dueOfCancelled(free).amount).toBe(7);
    expect(dueOfCancelled(free, { bytes: 5 }).amount).toBe(0);
  });
});

it.each([
  ['720p', '16:9', { width: 1280, height: 720 }],
  ['720p', '9:16', { width: 720, height: 1280 }],
  ['1080p', '1:1', { width: 1080, height: 1080 }],
  ['480p', '16:9', { width: 854, height: 480 }],
  ['480p', '21:9', { width: 1120, height: 480 }],
  ['4k', '4:3', { width: 2880, height: 2160 }],
  ['8k', '16:9', undefined],
  ['720p', '16:0', undefined],
  ['720p', '0:9', undefined],
  ['720p', 'wide', undefined],
  ['720p', '16', undefined],
])('knows the pixels of %s at %s', (resolution, aspectRatio, size) => {
  expect(videoSize({ resolution, aspectRatio } as never)).toEqual(size);
});
