import type { CallOptions, KeyedTake, RateDecision, RateLimiter } from '@questline/core/ports';

/** The takes of an engine: at least one window of each key. */
export interface Takes {
  readonly one: RateLimiter['take'];
  /** Two keys or more, all different. */
  readonly all: (
    takes: readonly KeyedTake[],
    now: number,
    options?: CallOptions,
  ) => Promise<readonly RateDecision[]>;
}
