import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, LeasedJob } from '@questline/core/ports';
import type { IQueueBackend, JobJson } from 'bullmq';

/** A leased job with its lock. A copy made property by property must include the lock. */
export interface BullLease extends LeasedJob {
  readonly lock: string;
}

/** The lock of a leased job; empty for any other object. */
export function getLock(job: LeasedJob): string {
  return 'lock' in job && typeof job.lock === 'string' ? job.lock : '';
}

export interface LeaseOptions {
  readonly kind: string;
  /** Empty: no owner. */
  readonly owner: string;
  readonly leaseMs: number;
  /** BullMQ's own lock duration. */
  readonly lockMs: number;
  readonly lock: string;
}

/** Takes the next due job under a new lock. */
export async function takeNext(
  backend: IQueueBackend,
  { kind, owner, leaseMs, lockMs, lock }: LeaseOptions,
): Promise<BullLease | undefined> {
  const now = Date.now();
  const [job, id] = (await backend.moveToActive(lock)) as [JobJson | null | undefined, string];
  if (job === null || job === undefined) return undefined;
  if (leaseMs !== lockMs) await backend.extendLock(id, lock, leaseMs);
  return {
    id,
    kind,
    payload: JSON.parse(job.data) as Json,
    key: job.deduplicationId ?? id,
    ...(owner !== '' && { owner }),
    // Runs that were handed back count for neither.
    attempt: job.attemptsMade + job.stalledCounter + 1,
    // The number of times that BullMQ handed out the job.
    fence: job.attemptsStarted,
    leaseUntil: now + leaseMs,
    lock,
  };
}

/**
 * BullMQ checks for stalled jobs at most once per millisecond, and ignores a check that comes too early. A timer can fire a
 * millisecond early, and Redis counts whole ones.
 */
const BETWEEN_LOOKS_MS = 5;

/**
 * Requeues jobs whose lock has expired and that an earlier check marked as active; marks the jobs that are active
 * now.
 */
export async function recover(backend: IQueueBackend): Promise<void> {
  await backend.moveStalledJobsToWait();
}

/** Does the same for jobs that only the last check marked. @returns whether there are active jobs. */
export async function recoverRest(backend: IQueueBackend): Promise<boolean> {
  const [active = 0] = await backend.getCounts(['active']);
  if (active === 0) return false;
  await sleep(BETWEEN_LOOKS_MS);
  await backend.moveStalledJobsToWait();
  return true;
}
