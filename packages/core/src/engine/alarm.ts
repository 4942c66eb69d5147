import type { Clock } from '../ports/clock.ts';

/** Tells who waits for jobs when some may have become due. */
export interface Alarm {
  listen(listener: () => void): () => void;
  /** At once, or when the moment comes. */
  ring(at: number): void;
}

/** More moments than these are left to the workers' own polling. */
const MOST_MOMENTS = 1000;

export function createAlarm(clock: Clock): Alarm {
  const listeners = new Set<{ readonly call: () => void }>();
  const moments = new Set<number>();
  let timer: { readonly at: number; readonly cancel: () => void } | undefined;

  const notify = (): void => {
    for (const listener of [...listeners]) {
      try {
        if (listeners.has(listener)) listener.call();
      } catch {
        // One listener's fault is not the others', nor that of whoever enqueued.
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
    ring(at) {
      if (at <= clock.now()) return notify();
      if (moments.size >= MOST_MOMENTS) return;
      moments.add(at);
      if (listeners.size > 0 && (timer === undefined || at < timer.at)) set(at);
    },
  };
}
