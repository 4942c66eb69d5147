import type {
  EmbeddingModelV2,
  EmbeddingModelV3,
  EmbeddingModelV4,
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
} from '@ai-sdk/provider';
import type { GenerateRequest, ModelInfo } from '@questline/core/ports';

/** The supported versions of the language model interface. */
export type AiSdkLanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/** The supported versions of the embedding model interface. */
export type AiSdkEmbeddingModel = EmbeddingModelV2<string> | EmbeddingModelV3 | EmbeddingModelV4;

/** Call options of version 4; they are converted for older versions. */
export type AiSdkCall = LanguageModelV4CallOptions;

/** A model, with its data for the catalogue. */
export type AiSdkModel = Partial<
  Omit<ModelInfo, 'id' | 'type' | 'provider' | 'providerModel' | 'contextWindow' | 'maxOutputTokens'>
> & {
  /** The id that callers use. */
  readonly id: string;
  readonly model: AiSdkLanguageModel | AiSdkEmbeddingModel;
  /** Context window, in tokens. */
  readonly contextWindow: number;
  /** Maximum output tokens. 0 for an embedding model. */
  readonly maxOutputTokens: number;
  /** Creates the same model with a user's own key. Without it, calls with such a key are rejected. */
  readonly withKey?: (apiKey: string) => AiSdkLanguageModel | AiSdkEmbeddingModel;
  /** Changes each call of a language model before it is sent, e.g. sets the vendor's `providerOptions`. */
  readonly prepare?: (call: AiSdkCall, request: GenerateRequest) => AiSdkCall;
};

const supported: ReadonlySet<unknown> = new Set(['v2', 'v3', 'v4']);

export function isLanguageModel(
  model: AiSdkLanguageModel | AiSdkEmbeddingModel,
): model is AiSdkLanguageModel {
  return 'doStream' in model && typeof model.doStream === 'function';
}

/**
 * Rejects a model that cannot be bridged, when the provider is created.
 * @throws TypeError
 */
export function checkModel(id: string, model: unknown): void {
  if (typeof model !== 'object' || model === null) {
    throw new TypeError(`Model '${id}': expected a model object of an AI SDK provider, got ${typeof model}`);
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
