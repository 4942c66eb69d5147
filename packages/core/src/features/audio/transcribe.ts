import { type Call, getPayer } from '../../contract/call.ts';
import type { ErrorFamily } from '../../contract/operation.ts';
import { meterRecording } from '../../credits/media.ts';
import type { ReservationServices } from '../../credits/reservations.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { CircuitBreaker } from '../../models/breaker.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { callFailure } from '../../models/failures.ts';
import { paidCall } from '../../models/paid-call.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Media } from '../../ports/media.ts';
import { ApiError } from '../../shared/errors.ts';
import { startTimeout } from '../../shared/timeouts.ts';
import { tryInOrder } from '../media-jobs/candidates.ts';

export interface TranscribingServices extends ReservationServices {
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly breaker: CircuitBreaker;
  /** Request timeout, milliseconds. */
  readonly requestTimeoutMs: number;
}

class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/**
 * Transcribes a recording, charged by the seconds that its provider reports, else by its bytes. A failure or a timeout
 * is free; a caller who disconnects pays for the result.
 * @throws ApiError 504 `request_timeout`, and others for callers.
 */
export async function transcribe(
  services: TranscribingServices,
  audio: Media,
  about: {
    readonly operation: string;
    readonly family: ErrorFamily /** Default: any. */;
    readonly model?: string;
  },
  call: Call,
): Promise<{ text: string }> {
  const { enforceCredits: metered } = await services.adminSettings.current();
  const catalogue = await services.getCatalogue(call.caller);
  const candidates = catalogue.list().filter(({ info, provider, prices }) => {
    if (about.model !== undefined && info.id !== about.model) return false;
    return info.type === 'speech-to-text' && provider.transcribe && (!metered || prices !== undefined);
  });
  if (candidates.length === 0) {
    throw new ApiError(503, 'No provider for transcriptions is configured on this server.', {
      code: 'provider_not_configured',
    });
  }
  const { operation, family } = about;
  const { requestId } = call;
  const tooLong = () => new TookTooLong('request timeout');
  const timeout = startTimeout(services.clock, services.requestTimeoutMs, tooLong);
  const signal = AbortSignal.any([call.signal, timeout.signal]);
  const failed = (error: unknown): void => services.onError({ operation, requestId, error });
  try {
    const { result } = await tryInOrder(
      { ...services, onFailure: failed },
      candidates,
      call.caller.userId,
      signal,
      (entry, place) =>
        listen(services, entry, audio, { operation, isMetered: metered, place }, call, timeout.signal),
    );
    return result;
  } catch (error) {
    if (call.signal.aborted)
      throw new ApiError(400, 'The client disconnected before the answer', { cause: error });
    if (signal.aborted) {
      throw new ApiError(504, 'The transcription exceeded the request timeout.', {
        code: 'request_timeout',
        cause: error,
      });
    }
    throw callFailure(error, family);
  } finally {
    timeout.end();
  }
}

async function listen(
  services: TranscribingServices,
  entry: CatalogueEntry,
  audio: Media,
  about: { readonly operation: string; readonly isMetered: boolean; readonly place: number },
  call: Call,
  limit: AbortSignal,
): Promise<{ text: string }> {
  const { provider, prices, providerModel } = entry;
  const bytes = audio.data.length;
  const { operation, isMetered, place } = about;
  const { text } = await paidCall(
    services,
    {
      entry,
      key: place === 0 ? call.id : `${call.id}:${place}`,
      payer: getPayer(call.caller),
      operation,
      requestId: call.requestId,
      isMetered,
      amount: meterRecording(prices, bytes, undefined).amount,
    },
    {
      signal: call.signal,
      limit,
      whenLeft: 'finish',
      async ask(signal) {
        if (provider.transcribe === undefined)
          throw new Error(`Provider ${provider.id} has no speech-to-text`);
        return provider.transcribe({ model: providerModel, audio }, { signal });
      },
      cost: ({ usage }) => meterRecording(prices, bytes, usage),
    },
  );
  return { text };
}
