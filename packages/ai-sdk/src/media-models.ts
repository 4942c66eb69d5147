import type {
  ImageModelV2,
  ImageModelV3,
  ImageModelV4,
  ImageModelV4CallOptions,
  SpeechModelV2,
  SpeechModelV3,
  SpeechModelV4,
  SpeechModelV4CallOptions,
  TranscriptionModelV2,
  TranscriptionModelV3,
  TranscriptionModelV4,
  TranscriptionModelV4CallOptions,
  Experimental_VideoModelV4 as VideoModelV4,
  Experimental_VideoModelV4CallOptions as VideoModelV4CallOptions,
} from '@ai-sdk/provider';
import type {
  ImageRequest,
  ModelInfo,
  SpeechRequest,
  TranscribeRequest,
  VideoRequest,
} from '@questline/core/ports';

export type AiSdkImageModel = ImageModelV2 | ImageModelV3 | ImageModelV4;
export type AiSdkSpeechModel = SpeechModelV2 | SpeechModelV3 | SpeechModelV4;
export type AiSdkTranscriptionModel = TranscriptionModelV2 | TranscriptionModelV3 | TranscriptionModelV4;
/** A model with start and status calls. A model that only generates while the caller waits cannot be bridged. */
export type AiSdkVideoModel = VideoModelV4 & Required<Pick<VideoModelV4, 'doStart' | 'doStatus'>>;

type Known<Type extends ModelInfo['type'], Model, Call, Request> = Partial<
  Omit<ModelInfo, 'id' | 'type' | 'provider' | 'providerModel'>
> & {
  /** The id that callers use. */
  readonly id: string;
  readonly type: Type;
  readonly model: Model;
  /** Creates the same model with a user's own key. Without it, calls with such a key are rejected. */
  readonly withKey?: (apiKey: string) => Model;
  /** Changes each call before it is sent, e.g. sets the vendor's `providerOptions`. */
  readonly prepare?: (call: Call, request: Request) => Call;
};

/** An image, speech, video or transcription model, with its data for the catalogue. */
export type AiSdkMediaModel =
  | Known<'image', AiSdkImageModel, ImageModelV4CallOptions, ImageRequest>
  | Known<'text-to-speech', AiSdkSpeechModel, SpeechModelV4CallOptions, SpeechRequest>
  | Known<'speech-to-text', AiSdkTranscriptionModel, TranscriptionModelV4CallOptions, TranscribeRequest>
  | Known<'video', AiSdkVideoModel, VideoModelV4CallOptions, VideoRequest>;

export type MediaModelByType<Type extends AiSdkMediaModel['type']> = Extract<
  AiSdkMediaModel,
  { readonly type: Type }
>;

const supported: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4']);

/** @throws TypeError for a model that cannot be bridged, when the provider is created. */
export function checkMediaModel({ id, type }: Pick<AiSdkMediaModel, 'id' | 'type'>, model: unknown): void {
  const fields = (model ?? {}) as Readonly<Record<string, unknown>>;
  const { specificationVersion: version } = fields;
  const can = (verb: string): boolean => typeof fields[verb] === 'function';
  if (type === 'video') {
    if (version === 'v4' && can('doStart') && can('doStatus')) return;
    throw new TypeError(
      `Model '${id}' is no video model of version v4 of the AI SDK provider interface with doStart and doStatus; one ` +
        'that only generates while the caller waits would not survive a restart',
    );
  }
  if (supported.has(version) && can('doGenerate')) return;
  throw new TypeError(
    `Model '${id}' is no image, speech or transcription model of version v2, v3 or v4 of the AI SDK provider interface`,
  );
}

export function getMediaInfo(provider: string, entry: AiSdkMediaModel): ModelInfo {
  const { model: _, withKey: __, prepare: ___, ...fields } = entry;
  return { name: entry.id, contextWindow: 0, maxOutputTokens: 0, ...fields, provider };
}
