import { expect, test, vi } from 'vitest';
import { countOn, disturb, doWork, leaveWork, startTurns, takeDisturbance } from './endless.ts';

test('work ends', () => {
  doWork();
  expect(leaveWork()).toBe(false);
});

test('turns end, while the timers of the process are replaced', () => {
  vi.useFakeTimers();
  try {
    expect(startTurns()).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('nothing disturbs the next test', () => {
  expect(takeDisturbance()).toBe(false);
  expect(disturb()).toBe(false);
  expect(countOn(1)).toBe(2);
});
