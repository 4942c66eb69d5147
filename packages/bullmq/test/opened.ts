import type { JobQueue, NewJob } from '@questline/core/ports';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, expect } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createBullQueue } from '../src/index.ts';

export const LEASE_MS = 30_000;

/** An empty queue for each test of a `describe`, on one connection. */
export function shareConnection() {
  const run = freshPrefix();
  const connection = new Redis(REDIS_URL ?? '', { lazyConnect: true, maxRetriesPerRequest: null });
  connection.setMaxListeners(0);
  let made = 0;
  afterAll(async () => {
    await removeKeys(connection, run);
    await connection.quit();
  });

  return () => {
    made += 1;
    const prefix = `${run}-${made}`;
    const queue: JobQueue = createBullQueue({ connection, prefix, timeoutMs: 10_000 });
    const add = (key: string, more: Partial<NewJob> = {}) =>
      queue.enqueue({ kind: 'work', key, payload: { key }, ...more });
    const addAll = async (owner: string, count: number, kind = 'work') => {
      for (let at = 0; at < count; at += 1) await add(`${kind} of ${owner} ${at}`, { kind, owner });
    };
    const lease = (limit = 9, leaseMs = LEASE_MS) => queue.lease({ kinds: ['work'], limit, leaseMs });
    /** Fails the test without a job. */
    const mustLease = async (leaseMs?: number) => {
      const [job] = await lease(1, leaseMs);
      if (job === undefined) throw new Error('no job');
      return job;
    };
    const toKey = (owner: string, name: string) => `${prefix}:questline.work@${owner}:${name}`;
    /** Waits until the next look at the jobs of an owner is due, by the time of Redis: then a lease that ended is over. */
    const untilDue = (owner: string) =>
      expect
        .poll(async () => {
          const [seconds, micros] = await connection.time();
          const due = await connection.zscore(`${prefix}:questline:lanes:work`, `@${owner}`);
          return Number(due) <= Number(seconds) * 1000 + Number(micros) / 1000;
        })
        .toBe(true);
    /** A queue as BullMQ's own tools open it. */
    const openTool = (owner: string) =>
      new Queue(`questline.work@${owner}`, { connection: connection as never, prefix });
    return { connection, prefix, queue, add, addAll, lease, mustLease, toKey, untilDue, openTool };
  };
}
