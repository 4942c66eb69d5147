import { takeAll } from '@questline/core/ports';
import { expect } from 'vitest';
import { aborting, inParallel } from '../parallel.ts';
import { allLimiters, expectInstant, getWindow, type LimiterCase, remaining } from './subject.ts';

/** Cases of `takeAll`; a limiter without it passes by its `take`. */
export const severalCases: readonly LimiterCase[] = [
  {
    name: 'takes from several keys in their order',
    section: 'behaviour',
    async run(subject) {
      const { limiter, time } = subject;
      const minute = getWindow(subject, 'minute', 3);
      const day = getWindow(subject, 'day', 5);
      const takes = [
        { key: 'b', windows: [minute, day] },
        { key: 'a', windows: [day] },
        { key: 'c', windows: [{ ...minute, limit: 9 }] },
      ];
      const now = time.now();
      const first = await takeAll(limiter, takes, now);
      expect(first).toMatchObject([
        {
          allowed: true,
          windows: [
            { name: 'minute', limit: 3, remaining: 2 },
            { name: 'day', limit: 5, remaining: 4 },
          ],
        },
        { allowed: true, windows: [{ name: 'day', limit: 5, remaining: 4 }] },
        { allowed: true, windows: [{ name: 'minute', limit: 9, remaining: 8 }] },
      ]);
      for (const decision of first) expect(decision).not.toHaveProperty('refusedBy');
      expectInstant(subject, first[1]?.windows[0]?.resetAt ?? 0, now + day.lengthMs);
      const second = await takeAll(limiter, takes, time.now());
      expect(second.map(({ windows }) => windows.map((window) => window.remaining))).toEqual([
        [1, 3],
        [3],
        [7],
      ]);
      expect(await takeAll(limiter, [], time.now())).toEqual([]);
      expect(await remaining(subject, 'a', [day])).toEqual([3]);
    },
  },
  {
    name: 'ends at the first key that is refused: those before it are counted, those after it are not',
    section: 'behaviour',
    async run(subject) {
      const { limiter, time } = subject;
      const wide = [getWindow(subject, 'minute', 10)];
      const narrow = [getWindow(subject, 'minute', 1), getWindow(subject, 'day', 10)];
      const takes = [
        { key: 'a', windows: wide },
        { key: 'b', windows: narrow },
        { key: 'c', windows: wide },
      ];
      expect(await takeAll(limiter, takes, time.now())).toHaveLength(3);
      for (const left of [8, 7]) {
        const decisions = await takeAll(limiter, takes, time.now());
        expect(decisions.map(({ allowed }) => allowed)).toEqual([true, false]);
        expect(decisions[1]?.refusedBy).toMatchObject({ name: 'minute', limit: 1, remaining: 0 });
        expect(decisions[1]?.refusedBy).toEqual(decisions[1]?.windows[0]);
        expect(await remaining(subject, 'a', wide)).toEqual([left]);
        expect(await remaining(subject, 'b', narrow)).toEqual([0, 9]);
        expect(await remaining(subject, 'c', wide)).toEqual([9]);
      }
    },
  },
  {
    name: 'allows exactly the limit of each key to parallel takes of several',
    section: 'race',
    async run(subject) {
      const windows = (limit: number) => [getWindow(subject, 'minute', limit)];
      const [a, b, c] = [
        { key: 'a', windows: windows(50) },
        { key: 'b', windows: windows(20) },
        { key: 'c', windows: windows(100) },
      ] as const;
      const decisions = await inParallel(60, allLimiters(subject), (limiter, at) =>
        takeAll(limiter, at % 3 === 0 ? [b, c] : [a, b, c], subject.time.now()),
      );
      const whole = decisions.filter((each) => each.every(({ allowed }) => allowed));
      expect(whole).toHaveLength(20);
      const [left] = await remaining(subject, 'b', windows(20));
      expect(left).toBe(0);
      const [ofA = 0] = await remaining(subject, 'a', windows(50));
      const [ofC = 0] = await remaining(subject, 'c', windows(100));
      expect(ofA).toBe(10);
      expect(ofC).toBe(80);
    },
  },
  {
    name: 'takes from several keys in their order or from none when aborted before the call',
    section: 'abort',
    async run(subject) {
      const takes = ['a', 'b'].map((key) => ({ key, windows: [getWindow(subject, 'minute', 5)] }));
      const attempt = await aborting('before', (signal) =>
        takeAll(subject.limiter, takes, subject.time.now(), { signal }),
      );
      const counts = [];
      for (const { key, windows } of takes) counts.push(...(await remaining(subject, key, windows)));
      expect(counts).toEqual(attempt.isDone ? [4, 4] : [5, 5]);
    },
  },
];
