import type { Call } from '../../contract/call.ts';
import type { ReservationServices } from '../../credits/reservations.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { CircuitBreaker } from '../../models/breaker.ts';
import type { ModelCatalogue } from '../../models/catalogue.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { AdmissionControl } from '../../operations/admission-control.ts';
import type { AudioResult, SpeechRequest } from '../../ports/media.ts';
import { countCharacters } from '../../shared/characters.ts';
import { ApiError } from '../../shared/errors.ts';
import type { Made } from '../media-jobs/candidates.ts';
import { audioCandidates } from './candidates.ts';
import { makeAudio } from './synthesize.ts';

export interface SpeechServices extends ReservationServices {
  readonly getCatalogue: GetCatalogue;
  readonly adminSettings: AdminSettingsReader;
  readonly breaker: CircuitBreaker;
  readonly admissionControl: AdmissionControl;
}

/** A text to speak, on any wire. */
export interface SpeechInput extends Pick<SpeechRequest, 'text' | 'format'> {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly voice?: string | undefined;
  readonly stability?: number | undefined;
  readonly similarityBoost?: number | undefined;
  readonly languageCode?: string | undefined;
}

/**
 * Speaks a text: holds the credit, calls the provider, settles.
 * @param operation the id of the operation, for charges.
 * @throws ApiError for callers.
 */
export async function speak(
  services: SpeechServices,
  operation: string,
  input: SpeechInput,
  call: Call,
): Promise<Made<AudioResult>> {
  const { text, voice, format, stability, similarityBoost, languageCode } = input;
  const { catalogue, metered } = await loadAudioContext(services, call);
  const shades = {
    ...(stability !== undefined && { stability }),
    ...(similarityBoost !== undefined && { similarityBoost }),
    ...(languageCode !== undefined && { languageCode }),
  };
  const candidates = audioCandidates(
    catalogue,
    {
      type: 'text-to-speech',
      verb: 'speech',
      provider: input.provider,
      model: input.model,
      text,
      format,
      options: Object.keys(shades) as (keyof typeof shades)[],
      notConfigured: 401,
      tooLong: ({ provider }, limit) =>
        new ApiError(413, `text: longer than the maximum of ${limit} characters of ${provider.id}`, {
          extra: { provider: provider.id },
        }),
    },
    metered,
  );
  return makeAudio(
    services,
    {
      operation,
      candidates,
      metered,
      most: { characters: countCharacters(text) },
      // Voice names differ between providers.
      mayFallBack: input.provider === undefined && input.model === undefined && voice === undefined,
      notConfigured: 401,
      async ask({ provider, providerModel }, signal) {
        if (provider.speech === undefined) throw new Error(`Provider ${provider.id} has no text-to-speech`);
        const request = {
          model: providerModel,
          text,
          format,
          ...(voice !== undefined && { voice }),
          ...shades,
        };
        return provider.speech(request, { signal });
      },
    },
    call,
  );
}

/** @throws ApiError 503 while the service shuts down. */
export async function loadAudioContext(
  { admissionControl, adminSettings, getCatalogue }: SpeechServices,
  { caller }: Call,
): Promise<{ readonly metered: boolean; readonly catalogue: ModelCatalogue }> {
  admissionControl.admit();
  const { enforceCredits: metered } = await adminSettings.current();
  return { metered, catalogue: await getCatalogue(caller) };
}
