import type { Clock } from '../../ports/clock.ts';
import { ProviderError } from '../../ports/models.ts';
import { withTimeout } from '../../shared/timeouts.ts';

/** @param outer aborts earlier. @throws ProviderError `timeout`, or the outer signal's reason. */
export function withProviderTimeout<T>(
  clock: Clock,
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const error = () => new ProviderError('timeout', `not done within ${ms} ms`);
  return withTimeout(clock, ms, error, outer, work);
}
