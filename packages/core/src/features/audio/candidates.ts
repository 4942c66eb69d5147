import type { CatalogueEntry, ModelCatalogue } from '../../models/catalogue.ts';
import { refuseRetired } from '../../models/retired.ts';
import type { AudioAbilities, AudioFormat, MediaProvider } from '../../ports/media.ts';
import type { ModelInfo } from '../../ports/models.ts';
import { countCharacters } from '../../shared/characters.ts';
import { ApiError, invalid } from '../../shared/errors.ts';

/** The parts of a request that decide which providers support it. */
export interface AudioRequest {
  readonly type: Extract<ModelInfo['type'], 'text-to-speech' | 'sound-effect' | 'music'>;
  readonly verb: keyof Pick<MediaProvider, 'speech' | 'soundEffect' | 'music'>;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly text: string;
  readonly format: AudioFormat;
  /** Optional fields of the request, which not every model supports. */
  readonly options: readonly NonNullable<AudioAbilities['options']>[number][];
  readonly seconds?: number;
  readonly instrumental?: boolean;
  /** The status when no suitable provider is configured. */
  readonly notConfigured: 401 | 503;
  /** The error for a text that is longer than this provider accepts. */
  tooLong(entry: CatalogueEntry, limit: number): ApiError;
}

/**
 * Returns the models that support the request, in the host's order of preference. Validates everything before any cost.
 * @throws ApiError 422 for a combination that no provider supports, and the statuses of `input`.
 */
export function audioCandidates(
  catalogue: ModelCatalogue,
  input: AudioRequest,
  metered: boolean,
): readonly [CatalogueEntry, ...CatalogueEntry[]] {
  if (input.model !== undefined) {
    // Throws for a model that a list of the caller leaves out.
    catalogue.find(input.model);
    refuseRetired(catalogue, input.model);
  }
  const all = catalogue
    .list()
    .filter(({ info, provider }) => info.type === input.type && provider[input.verb]);
  const named = all.filter(({ provider }) => input.provider === undefined || provider.id === input.provider);
  if (named.length === 0) throw notConfigured(all, input);
  const wanted = named.filter(({ info }) => input.model === undefined || info.id === input.model);
  if (wanted.length === 0) {
    throw invalid('model', `unknown model '${input.model}'`, 'model_unavailable');
  }
  const sold = wanted.filter(({ prices }) => !metered || prices !== undefined);
  if (sold.length === 0) {
    throw invalid(
      'model',
      'has no price, so it cannot be used while credits are metered',
      'model_unavailable',
    );
  }
  const refusals: ApiError[] = [];
  const fit = sold.filter((entry) => {
    const refusal = toErrorResponse(entry, input);
    if (refusal !== undefined) refusals.push(refusal);
    return refusal === undefined;
  });
  const [first, ...others] = fit;
  if (first === undefined) throw refusals[0] ?? new Error('no suitable provider');
  return [first, ...others];
}

/** An unknown provider name is the caller's mistake, unless the operation has a status of its own for it. */
function notConfigured(all: readonly CatalogueEntry[], input: AudioRequest): ApiError {
  const code = 'provider_not_configured';
  if (input.provider === undefined) {
    return new ApiError(input.notConfigured, 'No provider for this is configured on this server.', { code });
  }
  if (all.length === 0 || input.notConfigured === 401) {
    const message = `The provider '${input.provider}' is not configured on this server.`;
    return new ApiError(input.notConfigured, message, { code });
  }
  const there = [...new Set(all.map(({ provider }) => provider.id))].join(', ');
  return invalid(
    'provider',
    `'${input.provider}' is not configured on this server, expected one of: ${there}`,
    code,
  );
}

function toErrorResponse(entry: CatalogueEntry, input: AudioRequest): ApiError | undefined {
  const { audio, name } = entry.info;
  if (audio === undefined) return undefined;
  if (!audio.formats.includes(input.format)) {
    return invalid('format', `${name} supports ${audio.formats.join(', ')}`, 'unsupported_audio_option');
  }
  const foreign = input.options.find((option) => audio.options?.includes(option) !== true);
  if (foreign !== undefined) {
    return invalid(foreign, `${name} does not support this option`, 'unsupported_audio_option');
  }
  if (input.instrumental === true && audio.instrumental === 'none') {
    return invalid('forceInstrumental', `${name} always generates vocals`, 'unsupported_audio_option');
  }
  const { duration } = audio;
  if (input.seconds !== undefined && duration !== undefined) {
    if (input.seconds < duration.min || input.seconds > duration.max) {
      return new ApiError(422, `${name} supports ${duration.min} to ${duration.max} seconds.`, {
        code: 'unsupported_duration',
      });
    }
  }
  return countCharacters(input.text) > audio.maxCharacters
    ? input.tooLong(entry, audio.maxCharacters)
    : undefined;
}
