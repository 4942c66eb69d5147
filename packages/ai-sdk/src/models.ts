import type {
  EmbeddingModelV2,
  EmbeddingModelV3,
  EmbeddingModelV4,
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
} from '@ai-sdk/provider';
import type { GenerateRequest, ModelInfo } from '@questline/core';

/** The versions of the language model interface that can be bridged. */
export type AiSdkLanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/** The versions of the embedding model interface that can be bridged. */
export type AiSdkEmbeddingModel = EmbeddingModelV2<string> | EmbeddingModelV3 | EmbeddingModelV4;

/** What a model is called with, in the words of the newest interface; older ones are translated to. */
export type AiSdkCall = LanguageModelV4CallOptions;

/** A model and what the catalogue should know about it. */
export type AiSdkModel = Partial<
  Omit<ModelInfo, 'id' | 'type' | 'provider' | 'providerModel' | 'contextWindow' | 'maxOutputTokens'>
> & {
  /** What callers name it by. */
  readonly id: string;
  readonly model: AiSdkLanguageModel | AiSdkEmbeddingModel;
  /** Tokens. */
  readonly contextWindow: number;
  /** Tokens. 0 for an embedding model. */
  readonly maxOutputTokens: number;
  /** Makes the same model with a user's own key. Without it, a call with such a key is refused. */
  readonly withKey?: (apiKey: string) => AiSdkLanguageModel | AiSdkEmbeddingModel;
  /** Last change to a call of a language model before it is made, e.g. to set `providerOptions` of the vendor. */
  readonly prepare?: (call: AiSdkCall, request: GenerateRequest) => AiSdkCall;
};

const supported: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4']);

export function isLanguageModel(
  model: AiSdkLanguageModel | AiSdkEmbeddingModel,
): model is AiSdkLanguageModel {
  return 'doStream' in model && typeof model.doStream === 'function';
}

/**
 * Refuses what cannot be bridged, when the provider is made and not when the first caller comes.
 * @throws TypeError
 */
export function checkModel(id: string, model: unknown): void {
  if (typeof model !== 'object' || model === null) {
    throw new TypeError(`Model '${id}': wanted a model object of an AI SDK provider, got ${typeof model}`);
  }
  const version = 'specificationVersion' in model ? model.specificationVersion : undefined;
  if (!supported.has(version)) {
    throw new TypeError(
      `Model '${id}' implements version '${String(version)}' of the AI SDK provider interface; v2, v3 and v4 are supported`,
    );
  }
  const callable = ['doStream', 'doEmbed'].some((name) => name in model);
  if (!callable) throw new TypeError(`Model '${id}' is neither a language model nor an embedding model`);
}
