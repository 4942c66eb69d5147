import { isApiError } from '../errors.ts';
import type { Breaker } from '../models/breaker.ts';
import { isProviderError, ProviderError } from '../ports/models.ts';

/** What says that a provider is down. */
const DOWN: readonly string[] = ['overloaded', 'failed', 'timeout'];

/**
 * Asks a provider once, unless it is known to be down. Not again by itself: what was made and got lost on the way is
 * paid for all the same.
 */
export async function askOnce<T>(
  { breaker }: { readonly breaker: Breaker },
  providerId: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  if (!breaker.allows(providerId)) throw new ProviderError('overloaded', 'left alone for a while');
  try {
    const result = await work();
    breaker.succeeded(providerId);
    return result;
  } catch (error) {
    signal.throwIfAborted();
    // What was refused here says nothing about the provider.
    if (isApiError(error)) throw error;
    if (isProviderError(error) && !DOWN.includes(error.kind)) breaker.succeeded(providerId);
    else breaker.failed(providerId);
    throw error;
  }
}
