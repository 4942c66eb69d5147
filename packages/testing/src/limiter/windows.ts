import { expect } from 'vitest';
import { expectInstant, type LimiterCase, remaining, takeTimes, windowOf } from './subject.ts';

const KEY = 'key:1';

export const windowCases: readonly LimiterCase[] = [
  {
    name: 'every take counts down all windows, in the order asked',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 60), windowOf(subject, 'day', 1000)];
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
    name: 'exactly the limit is allowed, then the window refuses',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 3), windowOf(subject, 'day', 1000)];
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
    name: 'a limit of one allows one',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 1)];
      expect((await takeTimes(subject, 1, KEY, windows)).allowed).toBe(true);
      expect((await takeTimes(subject, 1, KEY, windows)).allowed).toBe(false);
    },
  },
  {
    name: 'a refusal by the minute leaves the day as it was',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 2), windowOf(subject, 'day', 10)];
      await takeTimes(subject, 2, KEY, windows);
      const refused = await takeTimes(subject, 5, KEY, windows);
      expect(refused.windows.map((window) => window.remaining)).toEqual([0, 8]);
      expect(await remaining(subject, KEY, windows)).toEqual([0, 8]);
    },
  },
  {
    name: 'a refusal by the day leaves the minute as it was',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 10), windowOf(subject, 'day', 2)];
      await takeTimes(subject, 2, KEY, windows);
      const refused = await takeTimes(subject, 5, KEY, windows);
      expect(refused.refusedBy?.name).toBe('day');
      expect(refused.windows.map((window) => window.remaining)).toEqual([8, 0]);
      expect(await remaining(subject, KEY, windows)).toEqual([8, 0]);
    },
  },
  {
    name: 'a refusal opens no window',
    section: 'behaviour',
    async run(subject) {
      const day = windowOf(subject, 'day', 1);
      await takeTimes(subject, 1, KEY, [day]);
      const minute = windowOf(subject, 'minute', 5);
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
    name: 'of two exhausted windows the first asked is named',
    section: 'behaviour',
    async run(subject) {
      const minute = windowOf(subject, 'minute', 2);
      const day = windowOf(subject, 'day', 2);
      await takeTimes(subject, 2, KEY, [minute, day]);
      expect((await takeTimes(subject, 1, KEY, [minute, day])).refusedBy?.name).toBe('minute');
      expect((await takeTimes(subject, 1, KEY, [day, minute])).refusedBy?.name).toBe('day');
    },
  },
  {
    name: 'keys know nothing of each other',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 1)];
      await takeTimes(subject, 2, 'key:1', windows);
      expect((await takeTimes(subject, 1, 'key:2', windows)).allowed).toBe(true);
      expect((await takeTimes(subject, 1, 'key:1', windows)).allowed).toBe(false);
    },
  },
  {
    name: 'windows of one key know nothing of each other',
    section: 'behaviour',
    async run(subject) {
      await takeTimes(subject, 2, KEY, [windowOf(subject, 'minute', 1)]);
      expect((await takeTimes(subject, 1, KEY, [windowOf(subject, 'hour', 1)])).allowed).toBe(true);
    },
  },
  {
    name: 'looking takes nothing and opens nothing',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 2), windowOf(subject, 'day', 3)];
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
    name: 'a window ends so long after its first request, however many follow',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'day', 100)];
      const first = await takeTimes(subject, 1, KEY, windows);
      await subject.time.advance(2 * subject.time.unit);
      const second = await takeTimes(subject, 1, KEY, windows);
      const gap = (second.windows[0]?.resetAt ?? 0) - (first.windows[0]?.resetAt ?? 0);
      expect(Math.abs(gap)).toBeLessThanOrEqual(subject.time.isExact ? 0 : subject.time.unit / 2);
    },
  },
  {
    name: 'an ended window opens anew with the whole limit',
    section: 'behaviour',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 3, 1), windowOf(subject, 'day', 100)];
      // Where time passes, the three may fall into two windows: a fourth would then be allowed.
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
    name: 'a window refuses until the millisecond of its end, not longer',
    section: 'behaviour',
    needsExactTime: true,
    async run(subject) {
      const { time } = subject;
      await time.advance(12_345);
      const windows = [windowOf(subject, 'minute', 2, 1), windowOf(subject, 'day', 100)];
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
    name: 'a changed limit counts at once, and never shows less than nothing',
    section: 'behaviour',
    async run(subject) {
      await takeTimes(subject, 5, KEY, [windowOf(subject, 'minute', 10)]);
      const lowered = [windowOf(subject, 'minute', 3)];
      const refused = await takeTimes(subject, 1, KEY, lowered);
      expect(refused.allowed).toBe(false);
      expect(refused.refusedBy).toMatchObject({ limit: 3, remaining: 0 });
      const raised = await takeTimes(subject, 1, KEY, [windowOf(subject, 'minute', 6)]);
      expect(raised.allowed).toBe(true);
      expect(raised.windows[0]).toMatchObject({ limit: 6, remaining: 0 });
    },
  },
];
