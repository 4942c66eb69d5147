import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Ids } from '../../../ports/ids.ts';
import { everydayTools } from './everyday.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

/** @param pairs random numbers below 65,536. */
async function run(id: string, input: object, pairs: readonly number[] = []) {
  const left = [...pairs];
  const bytes = (length: number) => {
    const next = left.shift() ?? 0;
    return Uint8Array.from([next >> 8, next & 255]).slice(0, length);
  };
  const ids: Ids = pairs.length === 0 ? createFakeIds() : { ...createFakeIds(), bytes };
  const tools = everydayTools({ clock: createFakeClock(NOW), ids });
  return tools.find(({ offer }) => offer.id === id)?.run(input, {} as never);
}

describe('current_datetime', () => {
  it('returns the time in UTC, and in a time zone', async () => {
    expect(await run('current_datetime', {})).toEqual({
      content: '{"utc":"2026-11-21T12:00:00.000Z"}',
      isError: false,
    });
    const { content } = (await run('current_datetime', { time_zone: 'Asia/Tokyo' })) ?? { content: '' };
    expect(JSON.parse(content)).toEqual({
      utc: '2026-11-21T12:00:00.000Z',
      local: expect.stringMatching(/^Saturday.*21 November 2026.*21:00:00/),
      time_zone: 'Asia/Tokyo',
    });
  });

  it('reports an unknown time zone to the model', async () => {
    expect(await run('current_datetime', { time_zone: 'Mars/Base' })).toEqual({
      content: 'There is no time zone Mars/Base.',
      isError: true,
    });
  });
});

describe('calculator', () => {
  it('returns the value, or what is wrong', async () => {
    expect(await run('calculator', { expression: '6*7' })).toEqual({ content: '42', isError: false });
    expect(await run('calculator', { expression: '6*' })).toEqual({
      content: 'The expression cannot be computed: ends too early.',
      isError: true,
    });
  });
});

describe('dice_roll', () => {
  it('returns each die and the sum, and shows them to the client', async () => {
    const rolls = [1, 6, 3];
    expect(await run('dice_roll', { count: 3 }, [0, 5, 8])).toEqual({
      content: JSON.stringify({ rolls, total: 10 }),
      isError: false,
      payload: { type: 'dice', payload: { sides: 6, rolls, total: 10 } },
    });
  });

  it('uses only random numbers with which all sides are equally likely', async () => {
    // 65,534 is the last multiple of 7 below 65,536.
    for (const [pairs, roll] of [
      [[65_534, 4], 5],
      [[65_535, 2], 3],
      [[65_533, 0], 7],
    ] as const)
      expect((await run('dice_roll', { sides: 7 }, pairs))?.payload).toMatchObject({
        payload: { rolls: [roll] },
      });
    expect((await run('dice_roll', { sides: 1000 }, [0x01_05]))?.payload).toMatchObject({
      payload: { rolls: [262] },
    });
  });
});
