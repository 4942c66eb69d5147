import type { Clock } from '@questline/core';

/** Tells who waits for jobs, in this process, that some may have become due. */
export interface Alarm {
  listen(listener: () => void): () => void;
  /** At once, or when the time comes. */
  ring(runAt: number): void;
}

/** More moments than these are left to the workers' own polling. */
const MOST_MOMENTS = 1000;

export function createAlarm(clock: Clock): Alarm {
  const listeners = new Set<{ readonly call: () => void }>();
  const moments = new Map<number, () => void>();

  const notify = (): void => {
    for (const listener of [...listeners]) {
      try {
        if (listeners.has(listener)) listener.call();
      } catch {
        // One listener's fault is not the others', nor that of whoever enqueued.
      }
    }
  };

  return {
    listen(call) {
      const listener = { call };
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        for (const cancel of moments.values()) cancel();
        moments.clear();
      };
    },
    ring(runAt) {
      const delay = runAt - clock.now();
      if (delay <= 0) notify();
      else if (listeners.size > 0 && moments.size < MOST_MOMENTS && !moments.has(runAt)) {
        const cancel = clock.timer(delay, () => {
          moments.delete(runAt);
          notify();
        });
        moments.set(runAt, cancel);
      }
    },
  };
}
