import type { CallOptions } from './options.ts';
import type { Json } from './store.ts';

export interface NewJob {
  readonly kind: string;
  readonly payload: Json;
  /** While a job of this key is waiting or leased, another is not added. */
  readonly key: string;
  /** Epoch milliseconds. Default: now. */
  readonly runAt?: number;
}

/** A job in a worker's hands until its lease runs out. */
export interface LeasedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: Json;
  readonly key: string;
  /** 1 for the first run. */
  readonly attempt: number;
  /** Grows with every lease of this job. Whoever holds a smaller one has lost it: guard your own writes with it. */
  readonly fence: number;
  readonly leaseUntil: number;
}

export interface QueueCounts {
  readonly ready: number;
  readonly delayed: number;
  readonly leased: number;
}

/** What a worker is free to do. */
export interface LeaseWanted {
  readonly kinds: readonly string[];
  readonly limit: number;
  readonly leaseMs: number;
  /** Jobs of these kinds are leased for so many milliseconds instead. */
  readonly leaseMsOf?: Readonly<Record<string, number>>;
}

/**
 * Durable work. A job is handed to one worker at a time; when its lease runs out without renewal it is handed out again
 * with a greater fence, and every call under the old fence answers false and changes nothing. Between running out and
 * being handed out again, an engine may still let the old worker finish. An enqueued job is never lost and ends only
 * through `finish`.
 */
export interface JobQueue {
  /** @returns the id, and whether this call added it. */
  enqueue(job: NewJob, options?: CallOptions): Promise<{ readonly id: string; readonly added: boolean }>;
  /** Takes up to `limit` jobs that are due, oldest `runAt` first, including those whose lease ran out. */
  lease(want: LeaseWanted, options?: CallOptions): Promise<readonly LeasedJob[]>;
  /** @returns false when the lease was lost. */
  renew(job: LeasedJob, leaseMs: number, options?: CallOptions): Promise<boolean>;
  /** Ends the job. @returns false when the lease was lost. */
  finish(job: LeasedJob, options?: CallOptions): Promise<boolean>;
  /** Puts the job back, to run at `runAt`. `countAttempt: false` gives it back as if it had not run. @returns false when the lease was lost. */
  retry(
    job: LeasedJob,
    back: { runAt: number; countAttempt: boolean },
    options?: CallOptions,
  ): Promise<boolean>;
  /** Calls back when a job may have become due, at least in this process; workers poll as well. @returns stops it. */
  onReady(listener: () => void): () => void;
  counts(options?: CallOptions): Promise<QueueCounts>;
}
