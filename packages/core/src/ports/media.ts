import type { Usage } from './ledger.ts';
import type { GenerateOptions } from './models.ts';
import type { Json } from './store.ts';

/** The bytes of an image, audio or video file, and their type. */
export interface Media {
  /** E.g. `image/png`. */
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** Images to generate, or an image to edit if `source` is given. */
export interface ImageRequest {
  /** The provider's name for the model. */
  readonly model: string;
  readonly prompt: string;
  /** Number of images, 1 or more. The provider may return fewer. */
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
  /** The image to edit. */
  readonly source?: Media;
  /** Its transparent pixels mark the area of `source` to edit. */
  readonly mask?: Media;
  /** Reference images. */
  readonly references?: readonly Media[];
}

/** The generated images. */
export interface ImageResult {
  /** At least one. */
  readonly images: readonly Media[];
  /** The prompt after the provider's rewrite, if any. */
  readonly revisedPrompt?: string;
  /** Tokens, if the provider reports them. */
  readonly usage?: Usage;
}

/** Audio formats; `pcm` is 24 kHz, 16 bits, one channel, without a header. */
export type AudioFormat = 'mp3' | 'wav' | 'opus' | 'aac' | 'flac' | 'pcm';

/** A text to speak. */
export interface SpeechRequest {
  readonly model: string;
  readonly text: string;
  /** The provider's name of the voice. Default: the provider's default voice. */
  readonly voice?: string;
  readonly format: AudioFormat;
  /** 0 to 1. */
  readonly stability?: number;
  /** 0 to 1. */
  readonly similarityBoost?: number;
  /** ISO 639-1, two letters. */
  readonly languageCode?: string;
}

/** A sound effect to generate from a description. */
export interface SoundEffectRequest {
  readonly model: string;
  readonly text: string;
  /** Default: the provider chooses the duration. */
  readonly durationSeconds?: number;
  /** 0 to 1. */
  readonly promptInfluence?: number;
  readonly format: AudioFormat;
}

/** Music to generate from a description. */
export interface MusicRequest {
  readonly model: string;
  readonly prompt: string;
  readonly lengthMs: number;
  /** True: without vocals. */
  readonly instrumental?: boolean;
  readonly format: AudioFormat;
}

/** Generated audio. */
export interface AudioResult extends Media {
  /** Usage, if the provider reports it. */
  readonly usage?: Usage;
}

/** A recording to transcribe. */
export interface TranscribeRequest {
  readonly model: string;
  readonly audio: Media;
}

/** The transcript of a recording. */
export interface TranscribeResult {
  readonly text: string;
  readonly usage?: Usage;
}

/** A video to generate, from a description or from a first frame. */
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

/** The state of a provider's media job. */
export type MediaJobStatus =
  | { readonly state: 'waiting' | 'running' /** 0 to 1. */; readonly progress?: number }
  /** Pass `output` to `fetch`. */
  | { readonly state: 'done'; readonly output: Json; readonly durationSeconds?: number }
  /** The job failed and costs nothing. The message is for operators. */
  | { readonly state: 'failed' | 'blocked'; readonly message: string };

/** A result as a stream. */
export interface MediaStream {
  readonly mediaType: string;
  /** The caller must read it to the end or end the iteration (`return`). */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Asynchronous jobs of a provider, which take minutes: submit, poll, then fetch the result. Every failure is a
 * `ProviderError`.
 */
export interface MediaJobs<R> {
  /** Resolves with the provider's job id when the job is accepted. Not idempotent: two calls create two paid jobs. */
  submit(request: R, options: GenerateOptions): Promise<string>;
  poll(jobId: string, options: GenerateOptions): Promise<MediaJobStatus>;
  /** Best effort. Absent if the provider cannot cancel jobs. */
  cancel?(jobId: string, options: GenerateOptions): Promise<void>;
  /**
   * Streams a result; one without bytes is a failure. A body of the global `fetch` must keep its `Response`, e.g. in a generator
   * that reads it: the body of a collected `Response` ends early, without an error.
   */
  fetch(output: Json, options: GenerateOptions): Promise<MediaStream>;
}

/** Optional media operations of a provider. Every failure is a `ProviderError`. */
export interface MediaProvider {
  image?(request: ImageRequest, options: GenerateOptions): Promise<ImageResult>;
  speech?(request: SpeechRequest, options: GenerateOptions): Promise<AudioResult>;
  soundEffect?(request: SoundEffectRequest, options: GenerateOptions): Promise<AudioResult>;
  music?(request: MusicRequest, options: GenerateOptions): Promise<AudioResult>;
  transcribe?(request: TranscribeRequest, options: GenerateOptions): Promise<TranscribeResult>;
  readonly video?: MediaJobs<VideoRequest>;
  readonly musicJobs?: MediaJobs<MusicRequest>;
}

/** What an audio model supports. */
export interface AudioAbilities {
  readonly formats: readonly AudioFormat[];
  /** Maximum length of the text or prompt, in code points. */
  readonly maxCharacters: number;
  /** Supported options besides the text. */
  readonly options?: readonly ('stability' | 'similarityBoost' | 'languageCode' | 'promptInfluence')[];
  /** Seconds. */
  readonly duration?: { readonly min: number; readonly max: number };
  /** Music models only. Default `optional`. */
  readonly instrumental?: 'always' | 'optional' | 'none';
}

/** Lines of a video, by their common names. */
export type VideoResolution = '360p' | '480p' | '720p' | '1080p' | '4k';
/** Width to height of a video. */
export type VideoAspectRatio = '16:9' | '9:16' | '1:1' | '4:3' | '3:4' | '3:2' | '2:3' | '21:9';

/** Supported durations, in seconds. */
export type DurationChoice =
  | { readonly kind: 'range'; readonly min: number; readonly max: number; readonly step: number }
  | { readonly kind: 'discrete'; readonly values: readonly number[] };

/** What a video model supports. */
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
