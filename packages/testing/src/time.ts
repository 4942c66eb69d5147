import { setTimeout as sleep } from 'node:timers/promises';
import type { FakeClock } from './clock.ts';

/** The time of an implementation: a suite reads and advances it. */
export interface SuiteTime {
  /** Epoch milliseconds by the implementation's clock. */
  now(): number;
  /** Returns when at least this many milliseconds have passed by that clock. */
  advance(ms: number): Promise<void>;
  /** Milliseconds of one unit. Leases and windows of the suites are multiples of it. */
  readonly unit: number;
  /** True for a fake clock: cases may check one millisecond before and after. */
  readonly isExact: boolean;
}

/** For implementations with an injected clock: pass them the same one. */
export function fakeTime(clock: FakeClock): SuiteTime {
  return { now: () => clock.now(), advance: (ms) => clock.advance(ms), unit: 60_000, isExact: true };
}

/**
 * For engines with their own clock, such as a server's: real time with short windows. Cases that need
 * exact time are skipped.
 * @param options.unit default 250 ms. Longer for engines that are slow or far away.
 */
export function realTime(options: { unit?: number } = {}): SuiteTime {
  return {
    now: () => Date.now(),
    advance: (ms) => sleep(ms),
    unit: options.unit ?? 250,
    isExact: false,
  };
}
