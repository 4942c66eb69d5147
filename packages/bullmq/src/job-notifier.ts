import type { Clock } from '@questline/core/ports';

/** Notifies the workers of this process that jobs may be due. */
export interface JobNotifier {
  listen(listener: () => void): () => void;
  /** Notifies now, or at the given time. */
  wakeAt(runAt: number): void;
}

/** Beyond this number of timers, workers rely on polling. */
const MAX_MOMENTS = 1000;

export function createJobNotifier(clock: Clock): JobNotifier {
  const listeners = new Set<{ readonly call: () => void }>();
  const moments = new Map<number, () => void>();

  const notify = (): void => {
    for (const listener of [...listeners]) {
      try {
        if (listeners.has(listener)) listener.call();
      } catch {
        // An error of one listener must affect neither other listeners nor the enqueuing call.
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
    wakeAt(runAt) {
      const delay = runAt - clock.now();
      if (delay <= 0) notify();
      else if (listeners.size > 0 && moments.size < MAX_MOMENTS && !moments.has(runAt)) {
        const cancel = clock.timer(delay, () => {
          moments.delete(runAt);
          notify();
        });
        moments.set(runAt, cancel);
      }
    },
  };
}
