import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toIsoTime } from './iso-time.ts';

it('writes every time as toISOString does', () => {
  const times = fc.date({ noInvalidDate: true }).map((date) => date.getTime());
  fc.assert(
    fc.property(times, (ms) => {
      expect(toIsoTime(ms)).toBe(new Date(ms).toISOString());
    }),
  );
});

it.each([
  0,
  -1,
  Date.UTC(2000, 1, 29, 23, 59, 59, 999),
  Date.UTC(1000, 0, 1),
  Date.UTC(1000, 0, 1) - 1,
  Date.UTC(10_000, 0, 1) - 1,
  Date.UTC(10_000, 0, 1),
  8.64e15,
  -8.64e15,
])('writes %d ms as toISOString does', (ms) => {
  expect(toIsoTime(ms)).toBe(new Date(ms).toISOString());
});

it.each([Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 1])('throws a RangeError for %d', (ms) => {
  expect(() => toIsoTime(ms)).toThrow(RangeError);
});
