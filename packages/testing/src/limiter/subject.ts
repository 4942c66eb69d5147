import type { RateDecision, RateLimiter, RateWindow } from '@questline/core';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

export interface LimiterSubject extends Subject {
  readonly limiter: RateLimiter;
  /** More of the same over the same engine, as other processes would have it. The races are spread over all. */
  readonly peers?: readonly RateLimiter[];
}

export type LimiterCase = Case<LimiterSubject>;

/** So many units that no case lets it pass. */
const LONG = 40;

export function allLimiters({ limiter, peers = [] }: LimiterSubject): readonly RateLimiter[] {
  return [limiter, ...peers];
}

/** A window that no case lets pass, unless it is given a length in units. */
export function windowOf(
  { time }: Pick<LimiterSubject, 'time'>,
  name: string,
  limit: number,
  units = LONG,
): RateWindow {
  return { name, limit, lengthMs: units * time.unit };
}

/** Takes so many times, one after the other, and answers the last decision. */
export async function takeTimes(
  { limiter, time }: LimiterSubject,
  times: number,
  key: string,
  windows: readonly RateWindow[],
): Promise<RateDecision> {
  let last: RateDecision | undefined;
  for (let at = 0; at < times; at += 1) last = await limiter.take(key, windows, time.now());
  if (last === undefined) throw new RangeError('take at least once');
  return last;
}

/** The remaining slots, window by window, without taking any. */
export async function remaining(
  { limiter, time }: LimiterSubject,
  key: string,
  windows: readonly RateWindow[],
): Promise<readonly number[]> {
  return (await limiter.peek(key, windows, time.now())).map((window) => window.remaining);
}

/** Exactly that instant; where time really passes, within a unit of it. */
export function expectInstant(
  { time }: Pick<LimiterSubject, 'time'>,
  actual: number,
  expected: number,
): void {
  if (time.isExact) expect(actual).toBe(expected);
  else expect(Math.abs(actual - expected)).toBeLessThanOrEqual(time.unit);
}
