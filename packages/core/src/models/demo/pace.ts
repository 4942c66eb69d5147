import type { Clock } from '../../ports/clock.ts';

/**
 * Yields the items with a pause before each. Ending the iteration or aborting the signal ends a running pause; a
 * generator would wait for its end.
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
      signal?.addEventListener('abort', wake);
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
