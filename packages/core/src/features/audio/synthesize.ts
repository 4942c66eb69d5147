import { type Call, getPayer } from '../../contract/call.ts';
import { meterMedia } from '../../credits/media.ts';
import type { ReservationServices } from '../../credits/reservations.ts';
import type { CircuitBreaker } from '../../models/breaker.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { callFailure, emptyResult } from '../../models/failures.ts';
import { paidCall } from '../../models/paid-call.ts';
import type { Usage } from '../../ports/ledger.ts';
import type { AudioResult } from '../../ports/media.ts';
import { isProviderError } from '../../ports/models.ts';
import { ApiError, isApiError } from '../../shared/errors.ts';
import { type Made, tryInOrder } from '../media-jobs/candidates.ts';

/** A paid call for audio. */
export interface AudioWork {
  readonly operation: string;
  readonly candidates: readonly CatalogueEntry[];
  readonly metered: boolean;
  /** The maximum usage: the base of the hold, and of the charge when the provider reports no usage. */
  readonly most: Usage;
  /** Whether another provider may be called. */
  readonly mayFallBack: boolean;
  readonly notConfigured: 401 | 503;
  ask(entry: CatalogueEntry, signal: AbortSignal): Promise<AudioResult>;
}

/**
 * Holds the cost of an audio call, makes the call, and settles. A failed call is free; a caller who disconnects
 * pays for the result.
 * @throws ApiError for callers.
 */
export async function makeAudio(
  services: ReservationServices & { readonly breaker: CircuitBreaker },
  work: AudioWork,
  call: Call,
): Promise<Made<AudioResult>> {
  const { operation, most, metered } = work;
  const { requestId, signal } = call;
  const failed = (error: unknown): void => services.onError({ operation, requestId, error });
  const candidates = work.mayFallBack ? work.candidates : work.candidates.slice(0, 1);
  try {
    return await tryInOrder(
      { ...services, onFailure: failed },
      candidates,
      call.caller.userId,
      signal,
      async (entry, place) => {
        const { prices } = entry;
        return paidCall(
          services,
          {
            entry,
            key: place === 0 ? call.id : `${call.id}:${place}`,
            payer: getPayer(call.caller),
            operation,
            requestId,
            isMetered: metered,
            amount: meterMedia(prices, most, undefined).amount,
          },
          {
            signal,
            whenLeft: 'finish',
            async ask(own) {
              const result = await work.ask(entry, own);
              if (result.data.length === 0) throw emptyResult();
              return result;
            },
            cost: ({ usage }) => meterMedia(prices, most, usage),
          },
        );
      },
    );
  } catch (error) {
    if (signal.aborted)
      throw new ApiError(400, 'The client disconnected before the answer began', { cause: error });
    if (isApiError(error)) throw error;
    if (work.notConfigured === 401 && isProviderError(error) && error.kind === 'not_configured') {
      throw new ApiError(401, 'No key is configured for this provider.', {
        code: 'provider_not_configured',
        cause: error,
      });
    }
    throw callFailure(error, 'public');
  }
}
