import { setTimeout as sleep } from 'node:timers/promises';
import type { FakeClock } from './clock.ts';

/** The time an implementation lives in, as far as a suite needs to know and move it. */
export interface SuiteTime {
  /** Epoch milliseconds by the implementation's clock. */
  now(): number;
  /** Returns when at least so many milliseconds have passed by that clock. */
  advance(ms: number): Promise<void>;
  /** Milliseconds a case can afford to let pass. Leases and windows of the suites are made from it. */
  readonly unit: number;
  /** Nothing passes on its own: cases may look one millisecond before and after. */
  readonly isExact: boolean;
}

/** For implementations that take a clock: give them the same one. */
export function fakeTime(clock: FakeClock): SuiteTime {
  return { now: () => clock.now(), advance: (ms) => clock.advance(ms), unit: 60_000, isExact: true };
}

/**
 * For engines with a clock of their own, such as a server's: time really passes, in short windows. Cases that need
 * exact time are left out.
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
