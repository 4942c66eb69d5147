export interface WorkerSettings {
  /**
   * Lease in milliseconds: after this time without renewal another worker takes the job. 100 or more. Default 60,000.
   */
  readonly leaseMs: number;
  /** Poll interval in milliseconds, 1 or more. Default 1,000. */
  readonly pollMs: number;
  /** Maximum concurrent jobs in this process, by job kind, 0 to 10,000. */
  readonly concurrency: Readonly<Record<string, number>>;
  /**
   * Maximum concurrent jobs of one owner in this process, by job kind, 1 to 10,000. Default: a third of
   * `concurrency`, rounded up.
   */
  readonly maxPerOwner: Readonly<Record<string, number>>;
}

export const DEFAULT_WORKER_SETTINGS: WorkerSettings = {
  leaseMs: 60_000,
  pollMs: 1000,
  concurrency: {},
  maxPerOwner: {},
};
