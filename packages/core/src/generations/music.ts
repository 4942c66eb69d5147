import { toCredits } from '../credits/amounts.ts';
import { countCharacters } from '../credits/estimates.ts';
import { invalid } from '../errors.ts';
import { essenceOf } from '../files/types.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { AudioAbilities, AudioFormat, DurationChoice, MusicRequest } from '../ports/media.ts';
import { type MusicBody, musicOperations, type WireMusicJob, type WireMusicModel } from './contract.ts';
import { durationsOf, type GenerationKind, hasDuration, toWireDuration } from './kind.ts';
import type { MusicWish } from './records.ts';

/** Seconds, of a model that does not say. */
const USUAL_LENGTHS = { min: 3, max: 120 };
const USUAL_SECONDS = 10;
const USUAL_FORMAT: AudioFormat = 'mp3';

const MIME_TYPES: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  pcm: 'audio/pcm',
};

/** Music. Providers that only know one long call are asked in a job all the same. */
export const MUSIC: GenerationKind<MusicBody> = {
  kind: 'music',
  job: 'music-generation',
  operation: musicOperations.create.id,
  operations: musicOperations,

  serves: ({ info, provider }) =>
    info.type === 'music' && (provider.musicJobs !== undefined || provider.music !== undefined),

  toWireModel: modelOf,
  choose,

  making(provider, { providerModel, wish }) {
    const { prompt, durationSeconds, instrumental, format } = wish as MusicWish;
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

  mimeTypeOf(wish, told) {
    const essence = essenceOf(told);
    return essence?.startsWith('audio/') ? essence : MIME_TYPES[(wish as MusicWish).format];
  },

  toWire(common, wish): WireMusicJob {
    const { instrumental, format } = wish as MusicWish;
    return { ...common, object: 'music_generation', instrumental, format };
  },
};

interface MusicAbilities extends Required<Pick<AudioAbilities, 'formats' | 'instrumental'>> {
  readonly duration: DurationChoice;
  readonly defaults: { readonly durationSeconds: number; readonly format: AudioFormat };
}

function abilitiesOf({ info: { audio } }: CatalogueEntry): MusicAbilities {
  const formats = audio?.formats ?? [USUAL_FORMAT];
  const { min, max } = audio?.duration ?? USUAL_LENGTHS;
  const [first = USUAL_FORMAT] = formats;
  return {
    formats,
    instrumental: audio?.instrumental ?? 'optional',
    duration: { kind: 'range', min, max, step: 1 },
    defaults: {
      durationSeconds: min + Math.floor(Math.max(0, Math.min(USUAL_SECONDS, max) - min)),
      format: formats.includes(USUAL_FORMAT) ? USUAL_FORMAT : first,
    },
  };
}

function modelOf(entry: CatalogueEntry): WireMusicModel {
  const { info, prices } = entry;
  const { formats, instrumental, duration, defaults } = abilitiesOf(entry);
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

function choose(entry: CatalogueEntry, body: MusicBody): MusicWish {
  const { name, audio } = entry.info;
  const { formats, instrumental, duration, defaults } = abilitiesOf(entry);
  const wish: MusicWish = {
    prompt: body.prompt,
    durationSeconds: body.duration_seconds ?? defaults.durationSeconds,
    instrumental: body.instrumental ?? instrumental === 'always',
    format: body.format ?? defaults.format,
  };
  if (audio !== undefined && countCharacters(wish.prompt) > audio.maxCharacters) {
    throw invalid('prompt', `${name} reads at most ${audio.maxCharacters} characters`, 'limit_exceeded');
  }
  if (!hasDuration(duration, wish.durationSeconds)) {
    throw invalid('duration_seconds', `${name} makes ${durationsOf(duration)}`, 'unsupported_duration');
  }
  if (!formats.includes(wish.format)) {
    throw invalid('format', `${name} makes ${formats.join(', ')}`, 'unsupported_audio_option');
  }
  if (wish.instrumental !== (instrumental === 'always') && instrumental !== 'optional') {
    const does = instrumental === 'always' ? 'never' : 'always';
    throw invalid('instrumental', `${name} ${does} sings`, 'unsupported_audio_option');
  }
  return wish;
}
