import type { JobQueue, LeasedJob, NewJob } from '@questline/core/ports';
import { expect } from 'vitest';
import type { Case, Subject } from '../suite.ts';

export interface QueueSubject extends Subject {
  readonly queue: JobQueue;
  /** Further handles on the same engine, like other processes. Concurrency cases use all of them. */
  readonly peers?: readonly JobQueue[];
}

export type QueueCase = Case<QueueSubject>;

/** In units: longer than any case. */
export const LONG = 40;
export const KIND = 'quest';

export function allQueues({ queue, peers = [] }: QueueSubject): readonly JobQueue[] {
  return [queue, ...peers];
}

export function toJob(key: string, more: Partial<NewJob> = {}): NewJob {
  return { kind: KIND, payload: { key }, key, ...more };
}

/** Leases up to `limit` jobs of the default kind. */
export function lease(
  { time }: Pick<QueueSubject, 'time'>,
  queue: JobQueue,
  limit = 1,
  units = LONG,
): Promise<readonly LeasedJob[]> {
  return queue.lease({ kinds: [KIND], limit, leaseMs: units * time.unit });
}

/** Leases one job; fails the case without one. */
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
