import { type Call, payerOf } from '../call.ts';
import { meterMedia } from '../credits/media.ts';
import { type Reservation, type ReservationServices, reserve } from '../credits/reservations.ts';
import { ApiError, isApiError } from '../errors.ts';
import { askInTurn, type Made } from '../media/candidates.ts';
import type { Breaker } from '../models/breaker.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { providerFailure } from '../models/failures.ts';
import type { Usage } from '../ports/ledger.ts';
import type { AudioResult } from '../ports/media.ts';
import { isProviderError } from '../ports/models.ts';

/** A paid call for a sound. */
export interface AudioWork {
  readonly operation: string;
  readonly candidates: readonly CatalogueEntry[];
  readonly metered: boolean;
  /** What it takes at most: the measure of the hold, and of the charge where the provider counts nothing. */
  readonly most: Usage;
  /** Whether another provider may be asked. */
  readonly mayFallBack: boolean;
  readonly notConfigured: 401 | 503;
  ask(entry: CatalogueEntry): Promise<AudioResult>;
}

/**
 * Holds what a sound may cost, has it made, and settles. A call that fails is free.
 * @throws ApiError in words for callers.
 */
export async function makeAudio(
  services: ReservationServices & { readonly breaker: Breaker },
  work: AudioWork,
  call: Call,
): Promise<Made<AudioResult>> {
  const { operation, most, metered } = work;
  const { requestId, signal } = call;
  const failed = (error: unknown): void => services.onError({ operation, requestId, error });
  const candidates = work.mayFallBack ? work.candidates : work.candidates.slice(0, 1);
  try {
    return await askInTurn({ ...services, onFailure: failed }, candidates, signal, async (entry, place) => {
      const reserved = await reserve(services, {
        key: place === 0 ? call.id : `${call.id}:${place}`,
        payer: payerOf(call.caller),
        amount: meterMedia(entry.prices, most, undefined).amount,
        operation,
        model: entry.info.id,
        requestId,
        metered,
      });
      return paid(reserved, entry, most, () => work.ask(entry));
    });
  } catch (error) {
    if (signal.aborted) throw new ApiError(400, 'The client left before the answer began', { cause: error });
    if (isApiError(error)) throw error;
    if (work.notConfigured === 401 && isProviderError(error) && error.kind === 'not_configured') {
      throw new ApiError(401, 'No key is configured for this provider.', {
        code: 'provider_not_configured',
        cause: error,
      });
    }
    throw providerFailure(error, 'public');
  }
}

async function paid(
  reserved: Reservation,
  entry: CatalogueEntry,
  most: Usage,
  ask: () => Promise<AudioResult>,
): Promise<AudioResult> {
  try {
    const result = await ask();
    const { usage, amount } = meterMedia(entry.prices, most, result.usage);
    await reserved.settle(amount, usage);
    return result;
  } catch (error) {
    await reserved.release();
    throw error;
  }
}
