import type { Clock } from '../ports/clock.ts';

/** Notifies workers when jobs may have become due. */
export interface JobNotifier {
  listen(listener: () => void): () => void;
  /** Notifies now if `at` (epoch milliseconds) has passed, else at that time. */
  wakeAt(at: number): void;
}

/** Maximum scheduled times; workers find later jobs by polling. */
const MAX_MOMENTS = 1000;

export function createJobNotifier(clock: Clock): JobNotifier {
  const listeners = new Set<{ readonly call: () => void }>();
  const moments = new Set<number>();
  let timer: { readonly at: number; readonly cancel: () => void } | undefined;

  const notify = (): void => {
    for (const listener of [...listeners]) {
      try {
        if (listeners.has(listener)) listener.call();
      } catch {
        // An error of one listener must not affect other listeners or the caller of `enqueue`.
      }
    }
  };

  const set = (at: number): void => {
    timer?.cancel();
    const cancel = clock.timer(at - clock.now(), () => {
      timer = undefined;
      moments.delete(at);
      notify();
      setEarliest();
    });
    timer = { at, cancel };
  };

  const setEarliest = (): void => {
    if (moments.size > 0 && listeners.size > 0) set(Math.min(...moments));
  };

  return {
    listen(call) {
      const listener = { call };
      listeners.add(listener);
      if (timer === undefined) setEarliest();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        timer?.cancel();
        timer = undefined;
      };
    },
    wakeAt(at) {
      if (at <= clock.now()) return notify();
      if (moments.size >= MAX_MOMENTS) return;
      moments.add(at);
      if (listeners.size > 0 && (timer === undefined || at < timer.at)) set(at);
    },
  };
}
