/** The last argument of every port call that may take a while. */
export interface CallOptions {
  /** Aborted when nobody waits for the answer any more. A port may ignore it, but must never half-apply a write because of it. */
  readonly signal?: AbortSignal;
}
