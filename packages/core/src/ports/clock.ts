/** The source of time. It is injected so that tests control it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Calls `callback` once after `delay` milliseconds. A pending timer never keeps the process alive. @returns a
   * function that cancels the timer; safe to call twice.
   */
  timer(delay: number, callback: () => void): () => void;
}
