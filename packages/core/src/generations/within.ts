import type { Clock } from '../ports/clock.ts';
import { ProviderError } from '../ports/models.ts';

/**
 * Asks a provider for no longer than so long, whether it minds its signal or not.
 * @param outer breaks it off, too. @throws ProviderError `timeout`, or the outer signal's reason.
 */
export async function within<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const control = new AbortController();
  const cancel = clock.timer(ms, () =>
    control.abort(new ProviderError('timeout', `not done within ${ms} ms`)),
  );
  const pass = (): void => control.abort(outer?.reason);
  outer?.addEventListener('abort', pass, { once: true });
  const { signal } = control;
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    return await Promise.race([work(signal), aborted]);
  } finally {
    cancel();
    outer?.removeEventListener('abort', pass);
  }
}
