import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '@questline/core/ports';

/** A clock that stands still until the test advances it. */
export interface FakeClock extends Clock {
  /**
   * Advances the time. Timers fire in order, each at its own instant, and the work that they start can
   * run before the next one.
   */
  advance(ms: number): Promise<void>;
  /** Timers that have neither fired nor been cancelled. */
  readonly pending: number;
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** @param start epoch milliseconds. Default: a day in summer 2026. */
export function createFakeClock(start: number = Date.UTC(2026, 5, 1, 12)): FakeClock {
  const timers = new Set<Timer>();
  let now = start;

  const nextUntil = (end: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers)
      if (timer.at <= end && (next === undefined || timer.at < next.at)) next = timer;
    return next;
  };

  const remove = (timer: Timer): void => {
    timers.delete(timer);
    clock.pending = timers.size;
  };

  const clock = {
    now: () => now,
    pending: 0,
    timer(delay: number, callback: () => void) {
      const timer = { at: now + Math.max(0, delay), callback };
      timers.add(timer);
      clock.pending = timers.size;
      return () => remove(timer);
    },
    async advance(ms: number) {
      const end = now + ms;
      for (let timer = nextUntil(end); timer !== undefined; timer = nextUntil(end)) {
        remove(timer);
        now = Math.max(now, timer.at);
        timer.callback();
        await turn();
      }
      now = end;
      await turn();
    },
  };
  return clock;
}
