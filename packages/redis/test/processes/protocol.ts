import type { RateWindow } from '@questline/core';

export interface Start {
  readonly url: string;
  readonly prefix: string;
}

/** So many takes at once. Answered with the number of those that were allowed. */
export interface Task {
  readonly key: string;
  readonly windows: readonly RateWindow[];
  readonly takes: number;
}
