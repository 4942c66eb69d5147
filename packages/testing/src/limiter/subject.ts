import type { RateDecision, RateLimiter, RateWindow } from '@questline/core/ports';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

export interface LimiterSubject extends Subject {
  readonly limiter: RateLimiter;
  /** Further handles on the same engine, like other processes. Concurrency cases use all of them. */
  readonly peers?: readonly RateLimiter[];
}

export type LimiterCase = Case<LimiterSubject>;

/** In units: longer than any case. */
const LONG = 40;

export function allLimiters({ limiter, peers = [] }: LimiterSubject): readonly RateLimiter[] {
  return [limiter, ...peers];
}

/** A window that outlasts any case, unless its length is given in units. */
export function getWindow(
  { time }: Pick<LimiterSubject, 'time'>,
  name: string,
  limit: number,
  units = LONG,
): RateWindow {
  return { name, limit, lengthMs: units * time.unit };
}

/** Takes several times in sequence. @returns the last decision. */
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

/** Expects exactly this instant; in real time, within one unit. */
export function expectInstant(
  { time }: Pick<LimiterSubject, 'time'>,
  actual: number,
  expected: number,
): void {
  if (time.isExact) expect(actual).toBe(expected);
  else expect(Math.abs(actual - expected)).toBeLessThanOrEqual(time.unit);
}
