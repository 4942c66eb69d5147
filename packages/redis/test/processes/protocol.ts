import type { RateWindow } from '@questline/core/ports';

export interface Start {
  readonly url: string;
  readonly prefix: string;
}

/** A number of parallel takes. The answer is the number of allowed ones. */
export interface Task {
  readonly key: string;
  readonly windows: readonly RateWindow[];
  readonly takes: number;
}
