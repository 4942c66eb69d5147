import type { Clock } from '../../ports/clock.ts';

/**
 * Hands out the items one by one, after a pause each. Returning it early or aborting the signal ends a pause that is
 * under way, which a generator could not: it would sleep to the end of it.
 */
export function paced<T>(
  items: readonly T[],
  pause: { readonly clock: Clock; readonly pauseMs: number } | undefined,
  signal: AbortSignal | undefined,
): AsyncIterableIterator<T> {
  let place = 0;
  let wake = () => {};

  function sleep(clock: Clock, pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      wake = () => {
        cancel();
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = clock.timer(pauseMs, wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  return {
    async next() {
      if (place < items.length && pause !== undefined && !signal?.aborted) {
        await sleep(pause.clock, pause.pauseMs);
      }
      const item = items[place];
      if (item === undefined) return { done: true, value: undefined };
      if (signal?.aborted) {
        place = items.length;
        throw signal.reason;
      }
      place += 1;
      return { done: false, value: item };
    },
    async return() {
      place = items.length;
      wake();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
