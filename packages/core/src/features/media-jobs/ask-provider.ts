import type { Circuit, CircuitBreaker } from '../../models/breaker.ts';

/**
 * Calls a provider once, unless its circuit breaker is open. Never retries: a result that is lost on the way is paid for
 * anyway.
 * @throws ProviderError `overloaded` with the remaining time while the circuit breaker is open; the signal's reason once it is aborted.
 */
export async function callProvider<T>(
  { breaker }: { readonly breaker: CircuitBreaker },
  circuit: Circuit,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await breaker.call(circuit, signal, work);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
