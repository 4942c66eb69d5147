import type { Clock } from '../../ports/clock.ts';
import type { StopSignal } from '../../shared/stop-signal.ts';
import { cancelIterator } from '../../shared/streams.ts';

/** Timeout for the model's first event, milliseconds: until then, an error can still set the response status. */
const HEAD_WAITS_MS = 10_000;

/**
 * Starts a source and waits for its first step, until the timeout or until the client disconnects.
 * @returns the first step, which may still be pending.
 * @throws what the source's first step rejects with; the signal's reason when the client has disconnected.
 */
export function firstStep<T>(
  source: AsyncIterator<T>,
  clock: Clock,
  signal: StopSignal,
): Promise<{ readonly step: Promise<IteratorResult<T>> }> {
  return new Promise((resolve, reject) => {
    const step = source.next();
    const settle = (): void => {
      cancel();
      signal.removeEventListener('abort', stop);
    };
    const begin = (): void => {
      settle();
      resolve({ step });
    };
    const fail = (error: unknown): void => {
      settle();
      reject(error);
    };
    const stop = (): void => {
      fail(signal.reason);
      // The source may be waiting for its upstream: stop it without waiting.
      cancelIterator(source);
    };
    const cancel = clock.timer(HEAD_WAITS_MS, begin);
    step.then(begin, fail);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
}
