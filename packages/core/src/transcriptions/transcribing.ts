import { type Call, payerOf } from '../call.ts';
import { charge } from '../credits/pricing.ts';
import { type ReservationServices, reserve } from '../credits/reservations.ts';
import { ApiError, isApiError } from '../errors.ts';
import { askInTurn } from '../media/candidates.ts';
import type { Breaker } from '../models/breaker.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { providerFailure } from '../models/failures.ts';
import type { ErrorFamily } from '../operation.ts';
import type { Clock } from '../ports/clock.ts';
import type { Media } from '../ports/media.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import type { Switches } from '../settings/admin.ts';
import { untilAborted } from '../streams.ts';

export interface TranscribingServices extends ReservationServices {
  readonly catalogueOf: CatalogueOf;
  readonly switches: Switches;
  readonly breaker: Breaker;
  /** So long a caller may wait, milliseconds. */
  readonly requestTimeoutMs: number;
}

class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/**
 * Has a recording written down, paid by its bytes. What fails or takes too long is free.
 * @throws ApiError 504 `request_timeout`, and in words for callers.
 */
export async function transcribe(
  services: TranscribingServices,
  audio: Media,
  about: { readonly operation: string; readonly family: ErrorFamily },
  call: Call,
): Promise<{ text: string }> {
  const { enforceCredits: metered } = await services.switches.current();
  const catalogue = await services.catalogueOf(call.caller.userId);
  const candidates = catalogue.list().filter(({ info, provider, prices }) => {
    return info.type === 'speech-to-text' && provider.transcribe && (!metered || prices !== undefined);
  });
  if (candidates.length === 0) {
    throw new ApiError(503, 'No provider for transcriptions is configured on this server.', {
      code: 'provider_not_configured',
    });
  }
  const { operation, family } = about;
  const { requestId } = call;
  const time = timeLimit(services.clock, services.requestTimeoutMs, call.signal);
  const failed = (error: unknown): void => services.onError({ operation, requestId, error });
  try {
    const { result } = await askInTurn(
      { ...services, onFailure: failed },
      candidates,
      time.signal,
      (entry, place) => listen(services, entry, audio, { operation, metered, place }, call, time.signal),
    );
    return result;
  } catch (error) {
    if (call.signal.aborted) throw new ApiError(400, 'The client left before the answer', { cause: error });
    if (time.signal.aborted) {
      throw new ApiError(504, 'The recording took longer than a request may take.', {
        code: 'request_timeout',
        cause: error,
      });
    }
    throw isApiError(error) ? error : providerFailure(error, family);
  } finally {
    time.end();
  }
}

async function listen(
  services: TranscribingServices,
  entry: CatalogueEntry,
  audio: Media,
  about: { readonly operation: string; readonly metered: boolean; readonly place: number },
  call: Call,
  signal: AbortSignal,
): Promise<{ text: string }> {
  const { provider, prices, info, providerModel } = entry;
  if (provider.transcribe === undefined) throw new Error(`${provider.id} does not listen`);
  const usage = { bytes: audio.data.length };
  const amount = prices === undefined ? 0 : charge(prices, usage);
  const reserved = await reserve(services, {
    key: about.place === 0 ? call.id : `${call.id}:${about.place}`,
    payer: payerOf(call.caller),
    amount,
    operation: about.operation,
    model: info.id,
    requestId: call.requestId,
    metered: about.metered,
  });
  try {
    // Whoever could not wait for it is not to pay for it, whether the provider minds its signal or not.
    const { text } = await untilAborted(
      provider.transcribe({ model: providerModel, audio }, { signal }),
      signal,
    );
    signal.throwIfAborted();
    await reserved.settle(amount, usage);
    return { text };
  } catch (error) {
    await reserved.release();
    throw error;
  }
}

/** A signal that also ends after a while. */
function timeLimit(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): { readonly signal: AbortSignal; end(): void } {
  const late = new AbortController();
  const cancel = clock.timer(ms, () => late.abort(new TookTooLong('the caller may wait no longer')));
  return { signal: AbortSignal.any([signal, late.signal]), end: cancel };
}
