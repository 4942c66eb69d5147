import type {
  EmbedRequest,
  EmbedResult,
  GenerateOptions,
  GenerateRequest,
  IgnorableField,
  ModelChunk,
} from './generation.ts';
import type { MediaProvider } from './media.ts';
import type { ModelInfo } from './model-info.ts';

export type * from './generation.ts';
export type * from './model-info.ts';
export type * from './model-messages.ts';
export * from './provider-errors.ts';

/**
 * Serves models. `generate` resolves when the provider has accepted the call, and rejects with a `ProviderError`
 * otherwise; the stream may also fail with a `ProviderError`. Aborting the signal, or ending the iteration early,
 * cancels the provider call immediately.
 */
export interface ModelProvider extends MediaProvider {
  readonly id: string;
  /**
   * Models that are available now; empty without a key. Returns the same array until the list changes, so that
   * callers can cache by identity.
   */
  models(): readonly ModelInfo[];
  /**
   * Models that are available with a user's own key (`apiKey` of each call). Returns the same array until the list
   * changes. Default: `models()`.
   */
  modelsForOwnKey?(): readonly ModelInfo[];
  generate(request: GenerateRequest, options: GenerateOptions): Promise<AsyncIterable<ModelChunk>>;
  /**
   * Returns the fields of a request that `generate` would ignore wholly or in part. Asks nothing of the vendor. Absent:
   * unknown. @see findIgnoredFields
   */
  ignores?(request: GenerateRequest): readonly IgnorableField[];
  embed?(request: EmbedRequest, options: GenerateOptions): Promise<EmbedResult>;
  /** Closes idle connections. */
  close?(): Promise<void>;
}
