import type { Breaker } from '../models/breaker.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { isProviderError, type ProviderErrorKind } from '../ports/models.ts';
import { askOnce } from './asking.ts';

/** The provider's trouble, not the caller's request: another one may do better. */
const TROUBLE: readonly ProviderErrorKind[] = [
  'overloaded',
  'failed',
  'timeout',
  'rejected_key',
  'not_configured',
];

/** What was made, by whom, and who should have. */
export interface Made<T> {
  readonly result: T;
  readonly entry: CatalogueEntry;
  /** The provider that was asked first, when it was another one. */
  readonly fallbackFrom?: string;
}

/**
 * Asks one model after the other until one has delivered; the next one only through no fault of the request.
 * @param candidates at least one.
 */
export async function askInTurn<T>(
  services: { readonly breaker: Breaker; readonly onFailure: (error: unknown) => void },
  candidates: readonly CatalogueEntry[],
  signal: AbortSignal,
  ask: (entry: CatalogueEntry, place: number) => Promise<T>,
): Promise<Made<T>> {
  let failure: { readonly error: unknown } | undefined;
  for (const [place, entry] of candidates.entries()) {
    try {
      const result = await askOnce(services, entry.provider.id, signal, () => ask(entry, place));
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
  throw failure === undefined ? new Error('there is no model to ask') : failure.error;
}
