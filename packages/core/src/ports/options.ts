/** The last argument of every asynchronous port call. */
export interface CallOptions {
  /**
   * Aborted when the result is no longer needed. A port may ignore it, but must never apply a write partially because
   * of it.
   */
  readonly signal?: AbortSignal;
}
