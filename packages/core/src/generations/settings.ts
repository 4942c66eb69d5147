/** How generations are looked after. */
export interface GenerationSettings {
  /** How often a provider is asked how far it is. Default 5000 ms. */
  readonly pollMs: number;
  /** What has not ended so long after its provider was asked has failed. Default 3,600,000 ms. */
  readonly maxMs: number;
}

export const DEFAULT_GENERATION_SETTINGS: GenerationSettings = { pollMs: 5000, maxMs: 3_600_000 };
