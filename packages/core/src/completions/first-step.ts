import type { Clock } from '../ports/clock.ts';
import { leave } from '../streams.ts';

/** So long the head waits for the model's first event, to be able to say with a status that there will be none. */
const HEAD_WAITS_MS = 10_000;

/**
 * Starts a source and waits for its first step, but not for ever, and not for a client that has left.
 * @returns the first step, perhaps still under way.
 * @throws what the source's first step rejects with; the signal's reason when the client has left.
 */
export function firstStep<T>(
  source: AsyncIterator<T>,
  clock: Clock,
  signal: AbortSignal,
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
      // The source may be waiting for its upstream: stop it, but don't wait for it.
      leave(source);
    };
    const cancel = clock.timer(HEAD_WAITS_MS, begin);
    step.then(begin, fail);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
}
