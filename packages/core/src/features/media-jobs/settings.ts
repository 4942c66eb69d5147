/** Settings for generation jobs. */
export interface GenerationSettings {
  /** Poll interval of a provider. Default 5000 ms. */
  readonly pollMs: number;
  /** Timeout of a generation after its submission. Default 3,600,000 ms. */
  readonly maxMs: number;
}

export const DEFAULT_GENERATION_SETTINGS: GenerationSettings = { pollMs: 5000, maxMs: 3_600_000 };
