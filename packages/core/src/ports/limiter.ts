import type { CallOptions } from './options.ts';

/** A fixed window, opened by the first request in it. */
export interface RateWindow {
  readonly name: string;
  /** Requests per window, 1 or more. */
  readonly limit: number;
  readonly lengthMs: number;
}

export interface WindowState {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  /** Epoch milliseconds. For a window not yet open: when it would end if opened now. */
  readonly resetAt: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** The window that refused: the first exhausted one in the order asked. Only when refused. */
  readonly refusedBy?: WindowState;
  /** In the order asked. */
  readonly windows: readonly WindowState[];
}

/** Exact under concurrency: of parallel takers exactly `limit` pass per window, in all processes that share it. */
export interface RateLimiter {
  /** Takes one slot from every window or from none, in one atomic step. `now` is the caller's clock; a shared implementation may use its server's. */
  take(
    key: string,
    windows: readonly RateWindow[],
    now: number,
    options?: CallOptions,
  ): Promise<RateDecision>;
  /** Looks without taking. */
  peek(
    key: string,
    windows: readonly RateWindow[],
    now: number,
    options?: CallOptions,
  ): Promise<readonly WindowState[]>;
}
