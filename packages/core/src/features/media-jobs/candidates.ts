import { type CircuitBreaker, getCircuit } from '../../models/breaker.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { isProviderError, type ProviderErrorKind } from '../../ports/models.ts';
import { callProvider } from './ask-provider.ts';

/** Provider errors that the request did not cause: another provider may succeed. */
const TROUBLE: readonly ProviderErrorKind[] = [
  'overloaded',
  'failed',
  'malformed_answer',
  'timeout',
  'rejected_key',
  'not_configured',
];

/** The result, the model that made it, and the first candidate. */
export interface Made<T> {
  readonly result: T;
  readonly entry: CatalogueEntry;
  /** The provider of the first candidate, when a fallback made the result. */
  readonly fallbackFrom?: string;
}

/**
 * Calls one model after the other until one succeeds; continues only after errors that the request did not cause.
 * @param candidates at least one.
 */
export async function tryInOrder<T>(
  services: { readonly breaker: CircuitBreaker; readonly onFailure: (error: unknown) => void },
  candidates: readonly CatalogueEntry[],
  callerId: string,
  signal: AbortSignal,
  ask: (entry: CatalogueEntry, place: number) => Promise<T>,
): Promise<Made<T>> {
  let failure: { readonly error: unknown } | undefined;
  for (const [place, entry] of candidates.entries()) {
    try {
      const result = await callProvider(services, getCircuit(entry, callerId), signal, () =>
        ask(entry, place),
      );
      const first = candidates[0]?.provider.id;
      return {
        result,
        entry,
        ...(first !== undefined && first !== entry.provider.id && { fallbackFrom: first }),
      };
    } catch (error) {
      signal.throwIfAborted();
      failure ??= { error };
      if (!isProviderError(error) || !TROUBLE.includes(error.kind)) throw error;
      services.onFailure(error);
    }
  }
  throw failure === undefined ? new Error('no candidate model') : failure.error;
}
