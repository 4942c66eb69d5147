import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, LeasedJob } from '@questline/core';
import type { IQueueBackend, JobJson } from 'bullmq';

/** A job in hand, with the lock that proves it. A copy made property by property must take the lock along. */
export interface BullLease extends LeasedJob {
  readonly lock: string;
}

/** The lock of a job that this queue has handed out; no job has the empty one. */
export function lockOf(job: LeasedJob): string {
  return 'lock' in job && typeof job.lock === 'string' ? job.lock : '';
}

export interface LeaseTerms {
  readonly kind: string;
  readonly leaseMs: number;
  /** What BullMQ locks for by itself. */
  readonly lockMs: number;
  readonly lock: string;
}

/** Takes the next job that is due, under a lock of its own. */
export async function takeNext(
  backend: IQueueBackend,
  { kind, leaseMs, lockMs, lock }: LeaseTerms,
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
    // Runs given back as not having happened are counted by neither.
    attempt: job.attemptsMade + job.stalledCounter + 1,
    // Every time BullMQ hands the job out.
    fence: job.attemptsStarted,
    leaseUntil: now + leaseMs,
    lock,
  };
}

/** BullMQ looks for lost workers at most once a millisecond. */
const BETWEEN_LOOKS_MS = 2;

/**
 * Puts jobs whose lock has run out back into line, as far as an earlier look has noted down that they were in hand; and
 * notes down those that are in hand now.
 */
export async function recover(backend: IQueueBackend): Promise<void> {
  await backend.moveStalledJobsToWait();
}

/**
 * Does the same for those that only the last look has noted down.
 * @param own how many of the jobs in hand have just been taken, and need no look. @returns whether there were others.
 */
export async function recoverRest(backend: IQueueBackend, own: number): Promise<boolean> {
  const [active = 0] = await backend.getCounts(['active']);
  if (active <= own) return false;
  await sleep(BETWEEN_LOOKS_MS);
  await backend.moveStalledJobsToWait();
  return true;
}
