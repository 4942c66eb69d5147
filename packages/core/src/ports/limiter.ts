import type { CallOptions } from './options.ts';

/** A fixed window. The first request opens it. */
export interface RateWindow {
  readonly name: string;
  /** Maximum requests per window, 1 or more. */
  readonly limit: number;
  readonly lengthMs: number;
}

/** The state of one window of one key. */
export interface WindowState {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  /** Epoch milliseconds. For a window that is not open: its end if it opened now. */
  readonly resetAt: number;
}

/** Whether a call may pass, and the state of its windows. */
export interface RateDecision {
  readonly allowed: boolean;
  /** The first exhausted window, in the order of the call. Present only if `allowed` is false. */
  readonly refusedBy?: WindowState;
  /** In the order of the call, then those of `report`. */
  readonly windows: readonly WindowState[];
}

/** Options of one take. */
export interface TakeOptions extends CallOptions {
  /**
   * Windows whose state is returned with the decision, without a slot of them. A limiter may ignore them: Questline then
   * peeks.
   */
  readonly report?: readonly RateWindow[];
}

/** One take of several. */
export interface KeyedTake {
  readonly key: string;
  readonly windows: readonly RateWindow[];
}

/**
 * Limits request rates exactly under concurrency: exactly `limit` calls per window pass, across all processes that
 * share the limiter.
 */
export interface RateLimiter {
  /**
   * Takes one slot from every window or from none, atomically. `now` is the caller's clock, in epoch milliseconds; a
   * shared implementation may use the clock of its server.
   */
  take(
    key: string,
    windows: readonly RateWindow[],
    now: number,
    options?: TakeOptions,
  ): Promise<RateDecision>;
  /**
   * Takes from several different keys in this order, as by one `take` after the other, until one is refused: the slots of the
   * keys before it stay taken, the keys after it stay unchanged. One round trip to a shared engine. Calls that share keys
   * name them in the same order: an engine may lock them in it. Without this method, Questline calls `take` for each key.
   * @returns the decisions up to the first refusal, that one included.
   */
  takeAll?(takes: readonly KeyedTake[], now: number, options?: CallOptions): Promise<readonly RateDecision[]>;
  /** Returns the state of the windows without taking a slot. */
  peek(
    key: string,
    windows: readonly RateWindow[],
    now: number,
    options?: CallOptions,
  ): Promise<readonly WindowState[]>;
}
