import type { RateDecision } from '@questline/core/ports';
import { expect } from 'vitest';
import { expectInstant, getWindow, type LimiterCase, remaining, takeTimes } from './subject.ts';

const KEY = 'key:1';

export const windowCases: readonly LimiterCase[] = [
  {
    name: 'counts down all windows on every take, in the requested order',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 60), getWindow(subject, 'day', 1000)];
      const start = subject.time.now();
      const first = await subject.limiter.take(KEY, windows, start);
      expect(first.allowed).toBe(true);
      expect(first).not.toHaveProperty('refusedBy');
      expect(first.windows).toMatchObject([
        { name: 'minute', limit: 60, remaining: 59 },
        { name: 'day', limit: 1000, remaining: 999 },
      ]);
      for (const { resetAt } of first.windows) {
        expectInstant(subject, resetAt, start + (windows[0]?.lengthMs ?? 0));
      }
      const second = await subject.limiter.take(KEY, windows, subject.time.now());
      expect(second.windows.map((window) => window.remaining)).toEqual([58, 998]);
    },
  },
  {
    name: 'allows exactly the limit and rejects the next take',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 3), getWindow(subject, 'day', 1000)];
      const last = await takeTimes(subject, 3, KEY, windows);
      expect(last.allowed).toBe(true);
      expect(last.windows[0]?.remaining).toBe(0);
      const refused = await subject.limiter.take(KEY, windows, subject.time.now());
      expect(refused.allowed).toBe(false);
      expect(refused.refusedBy).toMatchObject({ name: 'minute', limit: 3, remaining: 0 });
      expect(refused.windows.map(({ name }) => name)).toEqual(['minute', 'day']);
      expect(refused.refusedBy).toEqual(refused.windows[0]);
    },
  },
  {
    name: 'allows one take under a limit of one',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 1)];
      expect((await takeTimes(subject, 1, KEY, windows)).allowed).toBe(true);
      expect((await takeTimes(subject, 1, KEY, windows)).allowed).toBe(false);
    },
  },
  {
    name: 'keeps the day unchanged when the minute rejects',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 2), getWindow(subject, 'day', 10)];
      await takeTimes(subject, 2, KEY, windows);
      const refused = await takeTimes(subject, 5, KEY, windows);
      expect(refused.windows.map((window) => window.remaining)).toEqual([0, 8]);
      expect(await remaining(subject, KEY, windows)).toEqual([0, 8]);
    },
  },
  {
    name: 'returns the state of a reported window without a slot of it, unless it ignores reports',
    section: 'behaviour',
    async run(subject) {
      const minute = getWindow(subject, 'minute', 2);
      const day = getWindow(subject, 'day', 3);
      const take = (report = day) =>
        subject.limiter.take(KEY, [minute], subject.time.now(), { report: [report] });
      const states = ({ windows }: RateDecision) => windows.map((window) => [window.name, window.remaining]);
      const first = await take();
      if (first.windows.length === 1) return;
      expect(states(first)).toEqual([
        ['minute', 1],
        ['day', 3],
      ]);
      expectInstant(subject, first.windows[1]?.resetAt ?? 0, subject.time.now() + day.lengthMs);
      await takeTimes(subject, 1, KEY, [day]);
      const second = await take({ ...day, limit: 1 });
      expect(second.allowed).toBe(true);
      expect(second.windows[1]).toMatchObject({ name: 'day', limit: 1, remaining: 0 });
      const refused = await take();
      expect(refused.refusedBy?.name).toBe('minute');
      expect(states(refused)).toEqual([
        ['minute', 0],
        ['day', 2],
      ]);
      expect(await remaining(subject, KEY, [minute, day])).toEqual([0, 2]);
    },
  },
  {
    name: 'keeps the minute unchanged when the day rejects',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 10), getWindow(subject, 'day', 2)];
      await takeTimes(subject, 2, KEY, windows);
      const refused = await takeTimes(subject, 5, KEY, windows);
      expect(refused.refusedBy?.name).toBe('day');
      expect(refused.windows.map((window) => window.remaining)).toEqual([8, 0]);
      expect(await remaining(subject, KEY, windows)).toEqual([8, 0]);
    },
  },
  {
    name: 'opens no window on a rejection',
    section: 'behaviour',
    async run(subject) {
      const day = getWindow(subject, 'day', 1);
      await takeTimes(subject, 1, KEY, [day]);
      const minute = getWindow(subject, 'minute', 5);
      const refused = await takeTimes(subject, 1, KEY, [minute, day]);
      expect(refused.allowed).toBe(false);
      expect(refused.windows[0]?.remaining).toBe(5);
      await subject.time.advance(subject.time.unit);
      const now = subject.time.now();
      const [state] = await subject.limiter.peek(KEY, [minute], now);
      expectInstant(subject, state?.resetAt ?? 0, now + minute.lengthMs);
    },
  },
  {
    name: 'names the first requested of two exhausted windows',
    section: 'behaviour',
    async run(subject) {
      const minute = getWindow(subject, 'minute', 2);
      const day = getWindow(subject, 'day', 2);
      await takeTimes(subject, 2, KEY, [minute, day]);
      expect((await takeTimes(subject, 1, KEY, [minute, day])).refusedBy?.name).toBe('minute');
      expect((await takeTimes(subject, 1, KEY, [day, minute])).refusedBy?.name).toBe('day');
    },
  },
  {
    name: 'keeps keys independent',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 1)];
      await takeTimes(subject, 2, 'key:1', windows);
      expect((await takeTimes(subject, 1, 'key:2', windows)).allowed).toBe(true);
      expect((await takeTimes(subject, 1, 'key:1', windows)).allowed).toBe(false);
    },
  },
  {
    name: 'keeps the windows of one key independent',
    section: 'behaviour',
    async run(subject) {
      await takeTimes(subject, 2, KEY, [getWindow(subject, 'minute', 1)]);
      expect((await takeTimes(subject, 1, KEY, [getWindow(subject, 'hour', 1)])).allowed).toBe(true);
    },
  },
  {
    name: 'takes and opens nothing on peek',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 2), getWindow(subject, 'day', 3)];
      const now = subject.time.now();
      const states = await subject.limiter.peek(KEY, windows, now);
      expect(states).toMatchObject([
        { name: 'minute', limit: 2, remaining: 2 },
        { name: 'day', limit: 3, remaining: 3 },
      ]);
      for (const { resetAt } of states) expectInstant(subject, resetAt, now + (windows[0]?.lengthMs ?? 0));
      await takeTimes(subject, 1, KEY, windows);
      for (let look = 0; look < 5; look += 1) expect(await remaining(subject, KEY, windows)).toEqual([1, 2]);
      expect((await takeTimes(subject, 1, KEY, windows)).allowed).toBe(true);
    },
  },
  {
    name: 'ends a window after its length from the first request, however many follow',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'day', 100)];
      const first = await takeTimes(subject, 1, KEY, windows);
      await subject.time.advance(2 * subject.time.unit);
      const second = await takeTimes(subject, 1, KEY, windows);
      const gap = (second.windows[0]?.resetAt ?? 0) - (first.windows[0]?.resetAt ?? 0);
      expect(Math.abs(gap)).toBeLessThanOrEqual(subject.time.isExact ? 0 : subject.time.unit / 2);
    },
  },
  {
    name: 'opens an ended window anew with the whole limit',
    section: 'behaviour',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 3, 1), getWindow(subject, 'day', 100)];
      // In real time, the three may be in two windows: a fourth would then be allowed.
      await subject.limiter.take(KEY, windows, subject.time.now());
      await subject.time.advance(1.5 * subject.time.unit);
      expect(await remaining(subject, KEY, windows)).toEqual([3, 99]);
      const now = subject.time.now();
      const again = await subject.limiter.take(KEY, windows, now);
      expect(again.windows.map((window) => window.remaining)).toEqual([2, 98]);
      expectInstant(subject, again.windows[0]?.resetAt ?? 0, now + subject.time.unit);
    },
  },
  {
    name: 'rejects until the millisecond at which the window ends',
    section: 'behaviour',
    needsExactTime: true,
    async run(subject) {
      const { time } = subject;
      await time.advance(12_345);
      const windows = [getWindow(subject, 'minute', 2, 1), getWindow(subject, 'day', 100)];
      await takeTimes(subject, 1, KEY, windows);
      await time.advance(time.unit / 2);
      await takeTimes(subject, 1, KEY, windows);
      await time.advance(time.unit / 2 - 1);
      expect((await takeTimes(subject, 1, KEY, windows)).allowed).toBe(false);
      await time.advance(1);
      const again = await takeTimes(subject, 2, KEY, windows);
      expect(again.allowed).toBe(true);
      expect(again.windows[0]).toMatchObject({ remaining: 0, resetAt: time.now() + time.unit });
      expect((await takeTimes(subject, 1, KEY, windows)).refusedBy?.name).toBe('minute');
      expect(await remaining(subject, KEY, windows)).toEqual([0, 96]);
    },
  },
  {
    name: 'applies a changed limit at once and never shows a negative remainder',
    section: 'behaviour',
    async run(subject) {
      await takeTimes(subject, 5, KEY, [getWindow(subject, 'minute', 10)]);
      const lowered = [getWindow(subject, 'minute', 3)];
      const refused = await takeTimes(subject, 1, KEY, lowered);
      expect(refused.allowed).toBe(false);
      expect(refused.refusedBy).toMatchObject({ limit: 3, remaining: 0 });
      const raised = await takeTimes(subject, 1, KEY, [getWindow(subject, 'minute', 6)]);
      expect(raised.allowed).toBe(true);
      expect(raised.windows[0]).toMatchObject({ limit: 6, remaining: 0 });
    },
  },
];
