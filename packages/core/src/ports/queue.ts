import type { CallOptions } from './options.ts';
import type { Json } from './store.ts';
import type { EngineWrite } from './write-all.ts';

/** A job to enqueue. */
export interface NewJob {
  readonly kind: string;
  readonly payload: Json;
  /** Deduplication key: while a job with this key is waiting or leased, `enqueue` adds no second one. */
  readonly key: string;
  /**
   * Fairness key, usually a user id: `lease` serves owners in turn. All jobs without an owner share one lane. Every
   * job with the same `key` must have the same owner. 1 to 200 characters.
   */
  readonly owner?: string;
  /** Epoch milliseconds. Default: now. */
  readonly runAt?: number;
}

/** A job that one worker holds until its lease expires. */
export interface LeasedJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: Json;
  readonly key: string;
  /** Absent for a job without an owner. */
  readonly owner?: string;
  /** The number of this run, from 1. */
  readonly attempt: number;
  /**
   * Fencing token: increases with every lease of this job. A worker with a smaller token has lost the lease. Use it
   * to guard your own writes.
   */
  readonly fence: number;
  readonly leaseUntil: number;
}

/** Numbers of jobs: due, due later, and held by a worker. */
export interface QueueCounts {
  readonly ready: number;
  readonly delayed: number;
  readonly leased: number;
}

/** Maximum number of concurrent jobs of one owner in a worker. */
export interface OwnerLimit {
  readonly max: number;
  /** Number of jobs that the worker already runs, by owner. A missing owner counts as 0. */
  readonly held: ReadonlyMap<string, number>;
}

/** The jobs that a worker can take now. */
export interface LeaseWanted {
  readonly kinds: readonly string[];
  readonly limit: number;
  /** Maximum number of jobs of a kind, within `limit`. Kinds without an entry have no limit of their own. */
  readonly limitByKind?: Readonly<Record<string, number>>;
  readonly leaseMs: number;
  /** Lease duration by job kind, in milliseconds. Replaces `leaseMs`. */
  readonly leaseMsByKind?: Readonly<Record<string, number>>;
  /**
   * Limits by job kind: at most `max` minus `held` jobs of one owner are leased. The other jobs of that owner wait
   * and do not block other owners. Jobs without an owner and kinds without an entry have no limit.
   */
  readonly perOwner?: Readonly<Record<string, OwnerLimit>>;
}

/** When a job that did not finish runs again. */
export interface Reschedule {
  /** Milliseconds from now. */
  readonly afterMs: number;
  /** False: this run does not count as an attempt. */
  readonly countAttempt: boolean;
}

/** The write of a leased job. */
export interface LeasedWrite {
  readonly write: EngineWrite;
  readonly job: LeasedJob;
}

/** Writes of jobs, for `writeAll` of a store. */
export interface JobWrites {
  /** Has no effect if a job with this key exists. */
  enqueue(job: NewJob): EngineWrite;
  /**
   * Adds a job that this process has leased already, for `leaseMs` from now: its first attempt, with fence 1. Has no effect if
   * a job with this key exists. Without this method, Questline leases the job after it was added.
   * @returns the job as it is leased once the write has taken effect.
   */
  enqueueLeased?(job: Omit<NewJob, 'runAt'>, leaseMs: number): LeasedWrite;
  /** Has no effect if the lease was lost. */
  finish(job: LeasedJob): EngineWrite;
}

/**
 * Stores jobs durably. One worker at a time holds a job. If the lease expires without renewal, the job is leased
 * again with a greater fence, and every call with the old fence returns false and changes nothing. Between expiry and
 * the next lease an engine may still let the old worker finish. An enqueued job is never lost: only `finish` removes
 * it.
 */
export interface JobQueue {
  /** @returns the id of the job with this key, and whether this call added it. */
  enqueue(job: NewJob, options?: CallOptions): Promise<{ readonly id: string; readonly added: boolean }>;
  /**
   * Leases up to `limit` due jobs, including jobs whose lease expired. Within one kind, owners are served
   * round-robin, also across calls to one queue object; jobs of one owner come in order of `runAt`, oldest first. The
   * cost of a call must not grow with the number of waiting jobs.
   */
  lease(want: LeaseWanted, options?: CallOptions): Promise<readonly LeasedJob[]>;
  /** Extends the lease to `leaseMs` from now. @returns false if the lease was lost. */
  renew(job: LeasedJob, leaseMs: number, options?: CallOptions): Promise<boolean>;
  /** Completes and removes the job. @returns false if the lease was lost. */
  finish(job: LeasedJob, options?: CallOptions): Promise<boolean>;
  /**
   * Returns the job to the queue, to run at `runAt` (epoch milliseconds). With `countAttempt: false` the run does not
   * count as an attempt. @returns false if the lease was lost.
   */
  retry(
    job: LeasedJob,
    back: { runAt: number; countAttempt: boolean },
    options?: CallOptions,
  ): Promise<boolean>;
  /**
   * Returns those of up to 1,000 keys that a waiting or leased job has. Without this method, Questline enqueues each job
   * again to find out.
   */
  findKeys?(keys: readonly string[], options?: CallOptions): Promise<readonly string[]>;
  /** Builds writes for a store on the same engine, so that records and jobs change together. */
  readonly writes?: JobWrites;
  /**
   * Calls `listener` when a job may have become due, at least for jobs of this process; workers also poll. @returns a
   * function that unsubscribes.
   */
  onReady(listener: () => void): () => void;
  /** An engine may stop to count after 10,000 jobs. */
  counts(options?: CallOptions): Promise<QueueCounts>;
}
