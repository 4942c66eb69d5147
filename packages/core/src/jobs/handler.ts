import type { LeasedJob, Reschedule } from '../ports/queue.ts';

/**
 * Extends the lease to `worker.leaseMs`, even if the job kind has a shorter lease. Call it before a step that another
 * worker must not take over early. @throws JobInterrupted if the lease is lost.
 */
export type ExtendLease = () => Promise<void>;

/** What follows a run of a job. */
export type JobEnd = Reschedule | 'finished' | undefined;

/** The handler of one job kind. */
export interface JobHandler {
  readonly kind: string;
  /** Maximum concurrent jobs of this kind in one process. */
  readonly concurrency: number;
  /** Maximum concurrent jobs of one owner in one process. Default: a third of `concurrency`, rounded up. */
  readonly maxPerOwner?: number;
  /** Lease in milliseconds. A shorter lease means a faster retry after a crash. Default: `worker.leaseMs`. */
  readonly leaseMs?: number;
  /**
   * Runs the job. Resolve with undefined to complete it, with a `Reschedule` to run it again, or with `finished` if the
   * handler has completed it with its last write; reject to retry with
   * exponential backoff. A job may run more than once, so it must be idempotent. `signal` is aborted with a
   * `JobInterrupted`.
   */
  run(job: LeasedJob, signal: AbortSignal, extendLease: ExtendLease): Promise<JobEnd>;
}
