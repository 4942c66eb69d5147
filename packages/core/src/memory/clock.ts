import type { Clock } from '../ports/clock.ts';

/** The longest delay a Node timer can wait; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** The machine's own time. Its timers never keep the process alive. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    timer(delay, callback) {
      let handle: NodeJS.Timeout;
      const arm = (left: number): void => {
        const step = Math.min(Math.max(left, 0), LONGEST_DELAY);
        handle = setTimeout(() => (left > step ? arm(left - step) : callback()), step);
        handle.unref();
      };
      arm(delay);
      return () => clearTimeout(handle);
    },
  };
}
