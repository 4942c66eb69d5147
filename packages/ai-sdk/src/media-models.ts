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
} from '@ai-sdk/provider';
import type { ImageRequest, ModelInfo, SpeechRequest, TranscribeRequest } from '@questline/core';

export type AiSdkImageModel = ImageModelV2 | ImageModelV3 | ImageModelV4;
export type AiSdkSpeechModel = SpeechModelV2 | SpeechModelV3 | SpeechModelV4;
export type AiSdkTranscriptionModel = TranscriptionModelV2 | TranscriptionModelV3 | TranscriptionModelV4;

type Known<Type extends ModelInfo['type'], Model, Call, Request> = Partial<
  Omit<ModelInfo, 'id' | 'type' | 'provider' | 'providerModel'>
> & {
  /** What callers name it by. */
  readonly id: string;
  readonly type: Type;
  readonly model: Model;
  /** Makes the same model with a user's own key. Without it, a call with such a key is refused. */
  readonly withKey?: (apiKey: string) => Model;
  /** Last change to a call before it is made, e.g. to set `providerOptions` of the vendor. */
  readonly prepare?: (call: Call, request: Request) => Call;
};

/** A model that makes pictures or speech, or writes speech down, and what the catalogue should know about it. */
export type AiSdkMediaModel =
  | Known<'image', AiSdkImageModel, ImageModelV4CallOptions, ImageRequest>
  | Known<'text-to-speech', AiSdkSpeechModel, SpeechModelV4CallOptions, SpeechRequest>
  | Known<'speech-to-text', AiSdkTranscriptionModel, TranscriptionModelV4CallOptions, TranscribeRequest>;

export type MediaModelOf<Type extends AiSdkMediaModel['type']> = Extract<
  AiSdkMediaModel,
  { readonly type: Type }
>;

const supported: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4']);

/** @throws TypeError for what cannot be bridged: when the provider is made, not when the first caller comes. */
export function checkMediaModel(id: string, model: unknown): void {
  const { specificationVersion: version, doGenerate } = (model ?? {}) as Readonly<Record<string, unknown>>;
  if (!supported.has(version) || typeof doGenerate !== 'function') {
    throw new TypeError(
      `Model '${id}' is no image, speech or transcription model of version v2, v3 or v4 of the AI SDK provider interface`,
    );
  }
}

export function mediaInfoOf(provider: string, entry: AiSdkMediaModel): ModelInfo {
  const { model: _, withKey: __, prepare: ___, ...fields } = entry;
  return { name: entry.id, contextWindow: 0, maxOutputTokens: 0, ...fields, provider };
}
