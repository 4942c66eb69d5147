import type { ReasoningEffort } from './generation.ts';
import type { AudioAbilities, VideoAbilities, VideoResolution } from './media.ts';

/** Prices in USD, 0 or more: tokens per million, media per unit. */
export interface ModelPrices {
  readonly input?: number;
  readonly output?: number;
  /** Default: the input price. */
  readonly cachedInput?: number;
  /** Default: the input price. */
  readonly cacheWrite?: number;
  /** Default: the output price. */
  readonly reasoning?: number;
  readonly image?: number;
  readonly second?: number;
  /** Price per second of video, by resolution. Other resolutions cost `second`. */
  readonly secondByResolution?: Readonly<Partial<Record<VideoResolution, number>>>;
  readonly thousandCharacters?: number;
  readonly megabyte?: number;
}

/** Prices for calls whose total input, cached or not, exceeds `aboveInputTokens`. */
export interface PriceTier {
  readonly aboveInputTokens: number;
  readonly prices: ModelPrices;
}

/** Prices that hold from a day on, such as those after an introductory price. */
export interface PriceChange {
  /** ISO date; the change counts from 00:00 UTC. */
  readonly from: string;
  /** In place of all prices before. */
  readonly prices: ModelPrices;
  /** In place of all tiers before. Absent: no tiers. */
  readonly priceTiers?: readonly PriceTier[];
}

/** A kind of content that a model reads or writes. */
export type Modality = 'text' | 'image' | 'document' | 'audio' | 'video';

/** What an image model supports, as clients see it. */
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

/** A model in the catalogue. */
export interface ModelInfo {
  /** The id that clients use. */
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
  /** The provider's name for the model. Default: `id`. */
  readonly providerModel?: string;
  readonly description?: string;
  /** Maximum input and output tokens of one call. Put prices of long prompts into `priceTiers`. */
  readonly contextWindow: number;
  /** Tokens. */
  readonly maxOutputTokens: number;
  /**
   * Output token limit of a call without `max_tokens`. Default: derived from `maxOutputTokens` and
   * `supportsThinking`.
   */
  readonly defaultMaxTokens?: number;
  /**
   * Maximum output tokens per second, including hidden reasoning. Bounds the charge for a call that ended without a
   * usage report.
   */
  readonly outputTokensPerSecond?: number;
  /** Embedding models: default vector length. */
  readonly dimensions?: number;
  readonly supportsStreaming?: boolean;
  readonly supportsThinking?: boolean;
  readonly supportsTools?: boolean;
  readonly supportsVision?: boolean;
  /** Supported levels. Absent: no level is known to be rejected. */
  readonly reasoningEfforts?: readonly ReasoningEffort[];
  /** Minimum prompt length for caching, in tokens. Absent: unknown. */
  readonly minCacheTokens?: number;
  readonly inputModalities?: readonly Modality[];
  readonly outputModalities?: readonly Modality[];
  /** ISO date: from 00:00 UTC of this day the model is retired. It leaves the lists, and calls are refused with its successor. */
  readonly deprecationDate?: string;
  /** The id of its successor. */
  readonly replacedBy?: string;
  /** ISO date: when these figures were last compared with the vendor's documents. */
  readonly checkedOn?: string;
  readonly image?: ImageAbilities;
  /** Audio models: what they support. */
  readonly audio?: AudioAbilities;
  readonly video?: VideoAbilities;
  /** Absent: the model is unavailable while credits are enforced. */
  readonly prices?: ModelPrices;
  /** Ascending by `aboveInputTokens`. */
  readonly priceTiers?: readonly PriceTier[];
  /** Price changes that are announced. They take effect by themselves. */
  readonly priceChanges?: readonly PriceChange[];
  /** Served through a cloud vendor's managed runtime; not shown in self-hosted installations. */
  readonly managedRuntime?: boolean;
}
