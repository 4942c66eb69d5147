import { countCharacters } from '../credits/estimates.ts';
import { ApiError, invalid } from '../errors.ts';
import type { CatalogueEntry, ModelCatalogue } from '../models/catalogue.ts';
import type { AudioAbilities, AudioFormat, MediaProvider } from '../ports/media.ts';
import type { ModelInfo } from '../ports/models.ts';

/** What is asked for, as far as it decides who can do it. */
export interface AudioWish {
  readonly type: Extract<ModelInfo['type'], 'text-to-speech' | 'sound-effect' | 'music'>;
  readonly verb: keyof Pick<MediaProvider, 'speech' | 'soundEffect' | 'music'>;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  readonly text: string;
  readonly format: AudioFormat;
  /** Fields that were sent, which not every model knows. */
  readonly options: readonly NonNullable<AudioAbilities['options']>[number][];
  readonly seconds?: number;
  readonly instrumental?: boolean;
  /** The status when nobody is configured who could. */
  readonly notConfigured: 401 | 503;
  /** The text is longer than this provider takes. */
  tooLong(entry: CatalogueEntry, limit: number): ApiError;
}

/**
 * Who can do what is asked for, in the host's order of preference. All of it is found out before any cost.
 * @throws ApiError 422 for a combination that nobody can do, and what the wish says.
 */
export function audioCandidates(
  catalogue: ModelCatalogue,
  wish: AudioWish,
  metered: boolean,
): readonly [CatalogueEntry, ...CatalogueEntry[]] {
  const all = catalogue.list().filter(({ info, provider }) => info.type === wish.type && provider[wish.verb]);
  const named = all.filter(({ provider }) => wish.provider === undefined || provider.id === wish.provider);
  if (named.length === 0) throw notConfigured(all, wish);
  const wanted = named.filter(({ info }) => wish.model === undefined || info.id === wish.model);
  if (wanted.length === 0) {
    throw invalid('model', `there is no such model '${wish.model}'`, 'model_unavailable');
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
    const refusal = refusalOf(entry, wish);
    if (refusal !== undefined) refusals.push(refusal);
    return refusal === undefined;
  });
  const [first, ...others] = fit;
  if (first === undefined) throw refusals[0] ?? new Error('nobody refused, and nobody fits');
  return [first, ...others];
}

/** A name that is nobody's is the caller's mistake, unless the operation has a status of its own for it. */
function notConfigured(all: readonly CatalogueEntry[], wish: AudioWish): ApiError {
  const code = 'provider_not_configured';
  if (wish.provider === undefined) {
    return new ApiError(wish.notConfigured, 'No provider for this is configured on this server.', { code });
  }
  if (all.length === 0 || wish.notConfigured === 401) {
    const message = `The provider '${wish.provider}' is not configured on this server.`;
    return new ApiError(wish.notConfigured, message, { code });
  }
  const there = [...new Set(all.map(({ provider }) => provider.id))].join(', ');
  return invalid(
    'provider',
    `'${wish.provider}' is not configured on this server, expected one of: ${there}`,
    code,
  );
}

function refusalOf(entry: CatalogueEntry, wish: AudioWish): ApiError | undefined {
  const { audio, name } = entry.info;
  if (audio === undefined) return undefined;
  if (!audio.formats.includes(wish.format)) {
    return invalid('format', `${name} makes ${audio.formats.join(', ')}`, 'unsupported_audio_option');
  }
  const foreign = wish.options.find((option) => audio.options?.includes(option) !== true);
  if (foreign !== undefined) {
    return invalid(foreign, `${name} knows no such option`, 'unsupported_audio_option');
  }
  if (wish.instrumental === true && audio.instrumental === 'none') {
    return invalid('forceInstrumental', `${name} always sings`, 'unsupported_audio_option');
  }
  const { duration } = audio;
  if (wish.seconds !== undefined && duration !== undefined) {
    if (wish.seconds < duration.min || wish.seconds > duration.max) {
      return new ApiError(422, `${name} makes ${duration.min} to ${duration.max} seconds.`, {
        code: 'unsupported_duration',
      });
    }
  }
  return countCharacters(wish.text) > audio.maxCharacters
    ? wish.tooLong(entry, audio.maxCharacters)
    : undefined;
}
