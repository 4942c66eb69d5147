import type { RateDecision } from '@questline/core';
import { expect } from 'vitest';
import { aborting, inParallel } from '../parallel.ts';
import { allLimiters, type LimiterCase, remaining, windowOf } from './subject.ts';

const allowedIn = (decisions: readonly RateDecision[]) => decisions.filter(({ allowed }) => allowed).length;

const KEY = 'key:1';
const WHEN = ['before', 'during'] as const;

export const raceCases: readonly LimiterCase[] = [
  {
    name: 'of 100 parallel takes under a ceiling of 60, exactly 60 pass',
    section: 'race',
    async run(subject) {
      for (let round = 0; round < 3; round += 1) {
        const windows = [windowOf(subject, 'minute', 60), windowOf(subject, 'day', 1000)];
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
    name: 'parallel takes see every number of remaining slots once',
    section: 'race',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 60)];
      const decisions = await inParallel(60, allLimiters(subject), (limiter) =>
        limiter.take(KEY, windows, subject.time.now()),
      );
      const seen = decisions.map((decision) => decision.windows[0]?.remaining ?? -1).sort((a, b) => a - b);
      expect(seen).toEqual(Array.from({ length: 60 }, (_, at) => at));
    },
  },
  {
    name: 'parallel takes refused by the day give every minute slot back',
    section: 'race',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 60), windowOf(subject, 'day', 25)];
      const decisions = await inParallel(100, allLimiters(subject), (limiter) =>
        limiter.take(KEY, windows, subject.time.now()),
      );
      expect(allowedIn(decisions)).toBe(25);
      expect(decisions.filter(({ refusedBy }) => refusedBy?.name === 'day')).toHaveLength(75);
      expect(await remaining(subject, KEY, windows)).toEqual([35, 0]);
    },
  },
  {
    name: 'parallel takes of many keys are exact for each',
    section: 'race',
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 7)];
      const decisions = await inParallel(100, allLimiters(subject), (limiter, at) =>
        limiter.take(`key:${at % 10}`, windows, subject.time.now()),
      );
      expect(allowedIn(decisions)).toBe(70);
    },
  },
  {
    name: 'when the window turns, exactly the limit passes once more',
    section: 'race',
    needsExactTime: true,
    async run(subject) {
      const windows = [windowOf(subject, 'minute', 60, 1), windowOf(subject, 'day', 1000)];
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
  name: `a take aborted ${when} the call takes from all windows or from none`,
  section: 'abort',
  async run(subject) {
    const windows = [windowOf(subject, 'minute', 5), windowOf(subject, 'day', 5)];
    const attempt = await aborting(when, (signal) =>
      subject.limiter.take(KEY, windows, subject.time.now(), { signal }),
    );
    const [minute, day] = await remaining(subject, KEY, windows);
    expect([4, 5]).toContain(minute);
    expect(day).toBe(minute);
    if (attempt.isDone) expect(minute).toBe(4);
  },
}));
