import type { Usage } from './ledger.ts';
import type { GenerateOptions } from './models.ts';
import type { Json } from './store.ts';

/** A picture, a sound, a film: its bytes and what they are. */
export interface Media {
  /** E.g. `image/png`. */
  readonly mediaType: string;
  readonly data: Uint8Array;
}

export interface ImageRequest {
  /** The provider's own name of the model. */
  readonly model: string;
  readonly prompt: string;
  /** Images wanted, 1 or more. Fewer may come. */
  readonly count: number;
  /** Pixels. */
  readonly size?: { readonly width: number; readonly height: number };
  /** E.g. `16:9`. */
  readonly aspectRatio?: string;
  readonly quality?: string;
  readonly style?: 'vivid' | 'natural';
  readonly background?: 'transparent' | 'opaque' | 'auto';
  readonly seed?: number;
  readonly outputFormat?: 'png' | 'jpeg' | 'webp';
  /** 0 is the strictest, 6 the loosest. */
  readonly safetyTolerance?: number;
  /** The picture that is to be changed. */
  readonly source?: Media;
  /** Where the source may be changed: its transparent pixels. */
  readonly mask?: Media;
  /** Pictures to be guided by. */
  readonly references?: readonly Media[];
}

export interface ImageResult {
  /** At least one. */
  readonly images: readonly Media[];
  /** What the provider made of the prompt, if it changed it. */
  readonly revisedPrompt?: string;
  /** Tokens, of models that count them. */
  readonly usage?: Usage;
}

export type AudioFormat = 'mp3' | 'wav' | 'opus' | 'aac' | 'flac' | 'pcm';

export interface SpeechRequest {
  readonly model: string;
  readonly text: string;
  /** The provider's own name of it. Absent: the provider's usual one. */
  readonly voice?: string;
  readonly format: AudioFormat;
  /** 0 to 1. */
  readonly stability?: number;
  /** 0 to 1. */
  readonly similarityBoost?: number;
  /** Two letters. */
  readonly languageCode?: string;
}

export interface SoundEffectRequest {
  readonly model: string;
  readonly text: string;
  /** Absent: as long as the provider thinks fit. */
  readonly durationSeconds?: number;
  /** 0 to 1. */
  readonly promptInfluence?: number;
  readonly format: AudioFormat;
}

export interface MusicRequest {
  readonly model: string;
  readonly prompt: string;
  readonly lengthMs: number;
  /** True: nobody sings. */
  readonly instrumental?: boolean;
  readonly format: AudioFormat;
}

export interface AudioResult extends Media {
  /** What was used, as far as the provider tells. */
  readonly usage?: Usage;
}

export interface TranscribeRequest {
  readonly model: string;
  readonly audio: Media;
}

export interface TranscribeResult {
  readonly text: string;
  readonly usage?: Usage;
}

export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  readonly durationSeconds: number;
  /** E.g. `16:9`. */
  readonly aspectRatio: string;
  /** E.g. `720p`. */
  readonly resolution: string;
  readonly audio?: boolean;
  /** The first frame. */
  readonly image?: Media;
}

/** How far a provider is with a job. */
export type MediaJobStatus =
  | { readonly state: 'waiting' | 'running' /** 0 to 1. */; readonly progress?: number }
  /** `output` is what `fetch` is to be given. */
  | { readonly state: 'done'; readonly output: Json; readonly durationSeconds?: number }
  /** It came to nothing, and nothing is to be paid. The text is for operators. */
  | { readonly state: 'failed' | 'blocked'; readonly message: string };

/** A result on its way. */
export interface MediaStream {
  readonly mediaType: string;
  /** Must be read to its end or returned. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Work that takes a provider minutes: handed in, asked about, and fetched when it is done. */
export interface MediaJobs<R> {
  /** Resolves with the provider's own id once the work was accepted. Calling it twice is two pieces of work, both paid. */
  submit(request: R, options: GenerateOptions): Promise<string>;
  poll(jobId: string, options: GenerateOptions): Promise<MediaJobStatus>;
  /** Best effort; absent where the provider knows no such thing. */
  cancel?(jobId: string, options: GenerateOptions): Promise<void>;
  fetch(output: Json, options: GenerateOptions): Promise<MediaStream>;
}

/** What a provider may offer beside text. Every failure is a `ProviderError`. */
export interface MediaProvider {
  image?(request: ImageRequest, options: GenerateOptions): Promise<ImageResult>;
  speech?(request: SpeechRequest, options: GenerateOptions): Promise<AudioResult>;
  soundEffect?(request: SoundEffectRequest, options: GenerateOptions): Promise<AudioResult>;
  music?(request: MusicRequest, options: GenerateOptions): Promise<AudioResult>;
  transcribe?(request: TranscribeRequest, options: GenerateOptions): Promise<TranscribeResult>;
  readonly video?: MediaJobs<VideoRequest>;
  readonly musicJobs?: MediaJobs<MusicRequest>;
}

/** What a model that makes sound can do. */
export interface AudioAbilities {
  readonly formats: readonly AudioFormat[];
  /** Code points of the text or prompt. */
  readonly maxCharacters: number;
  /** Options beyond the text that it knows. */
  readonly options?: readonly ('stability' | 'similarityBoost' | 'languageCode' | 'promptInfluence')[];
  /** Seconds. */
  readonly duration?: { readonly min: number; readonly max: number };
  /** Of music. Default `optional`. */
  readonly instrumental?: 'always' | 'optional' | 'none';
}

export type VideoResolution = '360p' | '480p' | '720p' | '1080p' | '4k';
export type VideoAspectRatio = '16:9' | '9:16' | '1:1' | '4:3' | '3:4' | '3:2' | '2:3' | '21:9';

/** Which lengths there are, in seconds. */
export type DurationChoice =
  | { readonly kind: 'range'; readonly min: number; readonly max: number; readonly step: number }
  | { readonly kind: 'discrete'; readonly values: readonly number[] };

/** What a model that makes films can do. */
export interface VideoAbilities {
  readonly modes: readonly ('text_to_video' | 'image_to_video')[];
  readonly duration: DurationChoice;
  readonly aspectRatios: readonly VideoAspectRatio[];
  readonly resolutions: readonly VideoResolution[];
  readonly defaults: {
    readonly durationSeconds: number;
    readonly aspectRatio: VideoAspectRatio;
    readonly resolution: VideoResolution;
  };
  readonly audio: 'always' | 'optional' | 'none';
}
