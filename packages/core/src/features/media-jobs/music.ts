import { toCredits } from '../../credits/amounts.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import type { AudioAbilities, AudioFormat, DurationChoice, MusicRequest } from '../../ports/media.ts';
import { countCharacters } from '../../shared/characters.ts';
import { invalid } from '../../shared/errors.ts';
import { getEssence } from '../files/types.ts';
import { type MusicBody, musicOperations, type WireMusicJob, type WireMusicModel } from './contract.ts';
import { describeDurations, type GenerationKind, hasDuration, toWireDuration } from './kind.ts';
import type { MusicInput } from './records.ts';

/** Default duration limits in seconds, for models that declare none. */
const DEFAULT_LENGTHS = { min: 3, max: 120 };
const DEFAULT_SECONDS = 10;
const DEFAULT_FORMAT: AudioFormat = 'mp3';

const MIME_TYPES: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
};

/** The music kind. Providers with a single long call run in a job, too. */
export const MUSIC: GenerationKind<MusicBody> = {
  kind: 'music',
  job: 'music-generation',
  operation: musicOperations.create.id,
  operations: musicOperations,

  serves: ({ info, provider }) =>
    info.type === 'music' && (provider.musicJobs !== undefined || provider.music !== undefined),

  toWireModel: getModel,
  choose,

  making(provider, { providerModel, input }) {
    const { prompt, durationSeconds, instrumental, format } = input as MusicInput;
    const request: MusicRequest = {
      model: providerModel,
      prompt,
      lengthMs: Math.round(durationSeconds * 1000),
      format,
      ...(instrumental && { instrumental }),
    };
    const { musicJobs: jobs, music } = provider;
    if (jobs !== undefined) return { jobs, submit: (_image, options) => jobs.submit(request, options) };
    if (music === undefined) return undefined;
    return { once: (options) => music.call(provider, request, options) };
  },

  getMimeType(input, contentType) {
    const essence = getEssence(contentType);
    return essence?.startsWith('audio/') ? essence : MIME_TYPES[(input as MusicInput).format];
  },

  toWire(common, input): WireMusicJob {
    const { instrumental, format } = input as MusicInput;
    return { ...common, object: 'music_generation', instrumental, format };
  },
};

interface MusicAbilities extends Required<Pick<AudioAbilities, 'formats' | 'instrumental'>> {
  readonly duration: DurationChoice;
  readonly defaults: { readonly durationSeconds: number; readonly format: AudioFormat };
}

function getAbilities({ info: { audio } }: CatalogueEntry): MusicAbilities {
  const formats = audio?.formats ?? [DEFAULT_FORMAT];
  const { min, max } = audio?.duration ?? DEFAULT_LENGTHS;
  const [first = DEFAULT_FORMAT] = formats;
  return {
    formats,
    instrumental: audio?.instrumental ?? 'optional',
    duration: { kind: 'range', min, max, step: 1 },
    defaults: {
      durationSeconds: min + Math.floor(Math.max(0, Math.min(DEFAULT_SECONDS, max) - min)),
      format: formats.includes(DEFAULT_FORMAT) ? DEFAULT_FORMAT : first,
    },
  };
}

function getModel(entry: CatalogueEntry): WireMusicModel {
  const { info, prices } = entry;
  const { formats, instrumental, duration, defaults } = getAbilities(entry);
  const isPaidBySecond = prices !== undefined && info.prices?.second !== undefined;
  return {
    id: info.id,
    object: 'music_model',
    display_name: info.name,
    provider: info.provider,
    duration: toWireDuration(duration),
    formats: [...formats],
    instrumental,
    defaults: { duration_seconds: defaults.durationSeconds, format: defaults.format },
    credits_per_second: isPaidBySecond ? toCredits(prices.second) : null,
    deprecation_date: info.deprecationDate ?? null,
  };
}

function choose(entry: CatalogueEntry, body: MusicBody): MusicInput {
  const { name, audio } = entry.info;
  const { formats, instrumental, duration, defaults } = getAbilities(entry);
  const input: MusicInput = {
    prompt: body.prompt,
    durationSeconds: body.duration_seconds ?? defaults.durationSeconds,
    instrumental: body.instrumental ?? instrumental === 'always',
    format: body.format ?? defaults.format,
  };
  if (audio !== undefined && countCharacters(input.prompt) > audio.maxCharacters) {
    throw invalid('prompt', `${name} accepts at most ${audio.maxCharacters} characters`, 'limit_exceeded');
  }
  if (!hasDuration(duration, input.durationSeconds)) {
    throw invalid(
      'duration_seconds',
      `${name} supports ${describeDurations(duration)}`,
      'unsupported_duration',
    );
  }
  if (!formats.includes(input.format)) {
    throw invalid('format', `${name} supports ${formats.join(', ')}`, 'unsupported_audio_option');
  }
  if (input.instrumental !== (instrumental === 'always') && instrumental !== 'optional') {
    const does = instrumental === 'always' ? 'never' : 'always';
    throw invalid('instrumental', `${name} ${does} generates vocals`, 'unsupported_audio_option');
  }
  return input;
}
