import type { Clock } from '../ports/clock.ts';

/** Maximum delay of a Node timer; a longer one fires immediately. */
const MAX_DELAY = 2 ** 31 - 1;

/** Creates the system clock. Its timers never keep the process alive. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    timer(delay, callback) {
      let handle: NodeJS.Timeout;
      const arm = (left: number): void => {
        const step = Math.min(Math.max(left, 0), MAX_DELAY);
        handle = setTimeout(() => (left > step ? arm(left - step) : callback()), step);
        handle.unref();
      };
      arm(delay);
      return () => clearTimeout(handle);
    },
  };
}
