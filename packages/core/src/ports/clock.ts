/** Time, injected everywhere, so that tests own it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Calls back once after `delay` milliseconds, unless cancelled. A pending timer never keeps the process alive.
   * @returns cancels the timer; safe to call twice.
   */
  timer(delay: number, callback: () => void): () => void;
}
