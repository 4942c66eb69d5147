import type { JobQueue, LeasedJob, NewJob } from '@questline/core';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

export interface QueueSubject extends Subject {
  readonly queue: JobQueue;
  /** More of the same over the same engine, as other processes would have it. The races are spread over all. */
  readonly peers?: readonly JobQueue[];
}

export type QueueCase = Case<QueueSubject>;

/** So many units that no case lets it pass. */
export const LONG = 40;
export const KIND = 'quest';

export function allQueues({ queue, peers = [] }: QueueSubject): readonly JobQueue[] {
  return [queue, ...peers];
}

export function jobOf(key: string, more: Partial<NewJob> = {}): NewJob {
  return { kind: KIND, payload: { key }, key, ...more };
}

/** Leases up to `limit` jobs of the usual kind. */
export function lease(
  { time }: Pick<QueueSubject, 'time'>,
  queue: JobQueue,
  limit = 1,
  units = LONG,
): Promise<readonly LeasedJob[]> {
  return queue.lease({ kinds: [KIND], limit, leaseMs: units * time.unit });
}

/** Leases one job, and fails the case when there is none. */
export async function mustLease(subject: QueueSubject, units = LONG): Promise<LeasedJob> {
  const [job] = await lease(subject, subject.queue, 1, units);
  if (job === undefined) throw new Error('expected a job to be due');
  return job;
}

export async function expectCounts(
  { queue }: Pick<QueueSubject, 'queue'>,
  ready: number,
  delayed: number,
  leased: number,
): Promise<void> {
  expect(await queue.counts()).toEqual({ ready, delayed, leased });
}
