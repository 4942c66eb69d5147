import type { RateDecision } from '@questline/core/ports';
import { expect } from 'vitest';
import { aborting, inParallel } from '../parallel.ts';
import { allLimiters, getWindow, type LimiterCase, remaining } from './subject.ts';

const allowedIn = (decisions: readonly RateDecision[]) => decisions.filter(({ allowed }) => allowed).length;

const KEY = 'key:1';
const WHEN = ['before', 'during'] as const;

export const raceCases: readonly LimiterCase[] = [
  {
    name: 'allows exactly 60 of 100 parallel takes under a limit of 60',
    section: 'race',
    async run(subject) {
      for (let round = 0; round < 3; round += 1) {
        const windows = [getWindow(subject, 'minute', 60), getWindow(subject, 'day', 1000)];
        const key = `key:${round}`;
        const decisions = await inParallel(100, allLimiters(subject), (limiter) =>
          limiter.take(key, windows, subject.time.now()),
        );
        expect(allowedIn(decisions)).toBe(60);
        expect(await remaining(subject, key, windows)).toEqual([0, 940]);
      }
    },
  },
  {
    name: 'returns every number of remaining slots once to parallel takes',
    section: 'race',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 60)];
      const decisions = await inParallel(60, allLimiters(subject), (limiter) =>
        limiter.take(KEY, windows, subject.time.now()),
      );
      const seen = decisions.map((decision) => decision.windows[0]?.remaining ?? -1).sort((a, b) => a - b);
      expect(seen).toEqual(Array.from({ length: 60 }, (_, at) => at));
    },
  },
  {
    name: 'returns every minute slot when the day rejects parallel takes',
    section: 'race',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 60), getWindow(subject, 'day', 25)];
      const decisions = await inParallel(100, allLimiters(subject), (limiter) =>
        limiter.take(KEY, windows, subject.time.now()),
      );
      expect(allowedIn(decisions)).toBe(25);
      expect(decisions.filter(({ refusedBy }) => refusedBy?.name === 'day')).toHaveLength(75);
      expect(await remaining(subject, KEY, windows)).toEqual([35, 0]);
    },
  },
  {
    name: 'counts parallel takes of many keys exactly for each',
    section: 'race',
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 7)];
      const decisions = await inParallel(100, allLimiters(subject), (limiter, at) =>
        limiter.take(`key:${at % 10}`, windows, subject.time.now()),
      );
      expect(allowedIn(decisions)).toBe(70);
    },
  },
  {
    name: 'allows exactly the limit once more when the window turns',
    section: 'race',
    needsExactTime: true,
    async run(subject) {
      const windows = [getWindow(subject, 'minute', 60, 1), getWindow(subject, 'day', 1000)];
      for (let turn = 1; turn <= 3; turn += 1) {
        const decisions = await inParallel(100, allLimiters(subject), (limiter) =>
          limiter.take(KEY, windows, subject.time.now()),
        );
        expect(allowedIn(decisions)).toBe(60);
        expect(await remaining(subject, KEY, windows)).toEqual([0, 1000 - 60 * turn]);
        await subject.time.advance(subject.time.unit);
      }
    },
  },
];

export const abortCases: readonly LimiterCase[] = WHEN.map((when) => ({
  name: `takes from all windows or none when aborted ${when} the call`,
  section: 'abort',
  async run(subject) {
    const windows = [getWindow(subject, 'minute', 5), getWindow(subject, 'day', 5)];
    const attempt = await aborting(when, (signal) =>
      subject.limiter.take(KEY, windows, subject.time.now(), { signal }),
    );
    const [minute, day] = await remaining(subject, KEY, windows);
    expect([4, 5]).toContain(minute);
    expect(day).toBe(minute);
    if (attempt.isDone) expect(minute).toBe(4);
  },
}));
