import { describe, expect, it } from 'vitest';
import { getState, takeSlots, toDecision } from '../src/limiter/windows.ts';

const MINUTE = { name: 'minute', limit: 3, lengthMs: 60 };
const DAY = { name: 'day', limit: 5, lengthMs: 1000 };

describe('a window of the limiter', () => {
  it('is open until its end', () => {
    const open = { minute: [100, 2] } as const;
    expect(getState(open, MINUTE, 99)).toEqual({ name: 'minute', limit: 3, remaining: 1, resetAt: 100 });
    expect(getState(open, MINUTE, 100)).toEqual({ name: 'minute', limit: 3, remaining: 3, resetAt: 160 });
    expect(getState(open, DAY, 99)).toEqual({ name: 'day', limit: 5, remaining: 5, resetAt: 1099 });
    expect(getState({}, DAY, 0)).toEqual({ name: 'day', limit: 5, remaining: 5, resetAt: 1000 });
  });

  it('has no less than 0 slots', () => {
    expect(getState({ minute: [100, 9] }, MINUTE, 0)).toMatchObject({ remaining: 0, resetAt: 100 });
  });

  it('loses a slot, or opens anew with one taken', () => {
    const open = { minute: [100, 2], hour: [500, 1] } as const;
    expect(takeSlots(open, [MINUTE, DAY], 99)).toEqual({ minute: [100, 3], hour: [500, 1], day: [1099, 1] });
    expect(takeSlots(open, [MINUTE], 100)).toEqual({ minute: [160, 1], hour: [500, 1] });
    expect(takeSlots({}, [MINUTE], 0)).toEqual({ minute: [60, 1] });
  });
});

describe('the decision of the limiter', () => {
  const open = { minute: [100, 3], day: [900, 5] } as const;

  it('has the states of all windows, and of those that are reported', () => {
    const minute = { name: 'minute', limit: 3, remaining: 0, resetAt: 100 };
    const day = { name: 'day', limit: 5, remaining: 0, resetAt: 900 };
    expect(toDecision(true, open, [MINUTE], 0, [DAY])).toEqual({ allowed: true, windows: [minute, day] });
    expect(toDecision(true, open, [MINUTE], 0)).toEqual({ allowed: true, windows: [minute] });
  });

  it('names the first window that refuses', () => {
    const states = toDecision(false, { ...open, minute: [100, 1] }, [MINUTE, DAY], 0);
    expect(states).toMatchObject({
      allowed: false,
      refusedBy: { name: 'day' },
      windows: [{ remaining: 2 }, {}],
    });
  });
});
