import type { Usage } from './ledger.ts';
import type { AudioAbilities, MediaProvider, VideoAbilities, VideoResolution } from './media.ts';
import type { CallOptions } from './options.ts';

/** One piece of a message. Media are base64 without a data-URL prefix. */
export type ModelContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'document'; readonly mediaType: string; readonly data: string; readonly name: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: 'tool_result';
      readonly toolUseId: string;
      readonly toolName: string;
      readonly content: string;
      readonly isError: boolean;
    }
  /** As the provider gave it, to be handed back verbatim. */
  | { readonly type: 'thinking'; readonly block: ThinkingBlock };

/** A provider's own reasoning block, kept verbatim (e.g. `{type: 'thinking', thinking, signature}`). */
export type ThinkingBlock = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: readonly ModelContent[];
}

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of type object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface GenerateRequest {
  /** The provider's own name of the model. */
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ToolSchema[];
  /** Whole, 1 or more. */
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly thinking?: { readonly budgetTokens: number };
  readonly reasoningEffort?: 'low' | 'medium' | 'high';
  /** `json`: any JSON object; `schema`: JSON that follows the schema. */
  readonly responseFormat?:
    | { readonly type: 'json' }
    | { readonly type: 'schema'; readonly name: string; readonly schema: Readonly<Record<string, unknown>> };
}

export interface GenerateOptions extends CallOptions {
  /** A user's own key for the provider, in place of the platform's. */
  readonly apiKey?: string;
}

export type FinishReason = 'stop' | 'max_tokens' | 'tool_use' | 'content_filter' | 'other';

/** What a model says, bit by bit. */
export type ModelPart =
  | { readonly type: 'text'; readonly text: string }
  /** Progress of reasoning, for counting and liveness; the whole block follows as `thinking`. */
  | { readonly type: 'thinking_delta'; readonly text: string }
  | { readonly type: 'thinking'; readonly block: ThinkingBlock }
  /** A complete call: `arguments` is JSON text. */
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly arguments: string }
  /** All tokens of this call so far, in classes that don't overlap. The last one counts. */
  | { readonly type: 'usage'; readonly usage: Usage }
  /** `model`: which one has answered, by the provider's own name, where it says so. */
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly model?: string };

/** A provider may yield what one network read brought as one array: fewer steps, fewer writes. */
export type ModelChunk = ModelPart | readonly ModelPart[];

/** Prices in USD: per million tokens, or per unit for media. */
export interface ModelPrices {
  readonly input?: number;
  readonly output?: number;
  /** Missing: the input price. */
  readonly cachedInput?: number;
  /** Missing: the input price. */
  readonly cacheWrite?: number;
  /** Missing: the output price. */
  readonly reasoning?: number;
  readonly image?: number;
  readonly second?: number;
  /** Of films: a second, where its price depends on the resolution. Others cost `second`. */
  readonly secondByResolution?: Readonly<Partial<Record<VideoResolution, number>>>;
  readonly thousandCharacters?: number;
  readonly megabyte?: number;
}

export interface ImageAbilities {
  readonly sizing: {
    readonly kind: 'presets' | 'dimensions' | 'aspect_ratio' | 'input_image' | 'fixed';
  } & Readonly<Record<string, unknown>>;
  readonly supports: {
    readonly transparent_background: boolean;
    readonly seed: boolean;
    readonly qualities: readonly string[];
    readonly max_images: number;
    readonly max_reference_images: number;
    readonly edit: boolean;
    readonly requires_input_image: boolean;
  };
}

/** A model as the catalogue knows it. */
export interface ModelInfo {
  /** What callers name it by. */
  readonly id: string;
  readonly name: string;
  readonly type:
    | 'text'
    | 'image'
    | 'speech-to-text'
    | 'text-to-speech'
    | 'sound-effect'
    | 'video'
    | 'music'
    | 'embedding';
  /** The id of the provider that serves it. */
  readonly provider: string;
  /** The provider's own name, when it differs from `id`. */
  readonly providerModel?: string;
  readonly description?: string;
  /** Tokens. */
  readonly contextWindow: number;
  /** Tokens. */
  readonly maxOutputTokens: number;
  /** Of an embedding model: how long its vectors are, unless a call asks for another length. */
  readonly dimensions?: number;
  readonly supportsStreaming?: boolean;
  readonly supportsThinking?: boolean;
  readonly supportsTools?: boolean;
  readonly supportsVision?: boolean;
  /** ISO date. */
  readonly deprecationDate?: string;
  readonly replacedBy?: string;
  readonly image?: ImageAbilities;
  /** Of models that make sound. */
  readonly audio?: AudioAbilities;
  readonly video?: VideoAbilities;
  /** Absent: the model cannot be used while metering is on. */
  readonly prices?: ModelPrices;
  /** Served through a cloud vendor's managed runtime: hidden on self-host. */
  readonly managedRuntime?: boolean;
}

/** Why a provider did not deliver. The text is for operators; callers never see it. */
export type ProviderErrorKind =
  | 'rejected_key'
  | 'not_configured'
  | 'overloaded'
  | 'timeout'
  | 'context_length'
  | 'invalid_request'
  | 'content_blocked'
  | 'failed';

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly kind: ProviderErrorKind;
  /** Milliseconds the provider asked to wait, if it did. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** Told by name, not by class: the ESM and CommonJS builds of this module may both be loaded. */
export function isProviderError(error: unknown): error is ProviderError {
  return error instanceof Error && error.name === 'ProviderError' && 'kind' in error;
}

export interface EmbedRequest {
  readonly model: string;
  readonly inputs: readonly string[];
  readonly dimensions?: number;
}

export interface EmbedResult {
  /** In the order of the inputs. */
  readonly embeddings: readonly (readonly number[])[];
  readonly tokens: number;
  /** Which model has answered, by the provider's own name, where it says so. */
  readonly model?: string;
}

/**
 * A source of models. `generate` resolves once the provider has accepted the call, and rejects with a `ProviderError`
 * otherwise; the stream may still fail with one. Aborting the signal, or returning the iterator early, stops the
 * provider's work at once.
 */
export interface ModelProvider extends MediaProvider {
  readonly id: string;
  /** What it can serve now; empty without a key. The same array until that changes, so that looking costs nothing. */
  models(): readonly ModelInfo[];
  /**
   * What it can serve to a caller who brings a key of their own, in the `apiKey` of each call; the same array, too.
   * Absent: what `models` offers.
   */
  modelsForOwnKey?(): readonly ModelInfo[];
  generate(request: GenerateRequest, options: GenerateOptions): Promise<AsyncIterable<ModelChunk>>;
  embed?(request: EmbedRequest, options: GenerateOptions): Promise<EmbedResult>;
  /** Ends idle connections. */
  close?(): Promise<void>;
}
