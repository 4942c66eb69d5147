import type { JobQueue, JobWrites, LeasedWrite, Store } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlQueue, createSqlStore } from '../src/index.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

const LEASE_MS = 60_000;
const JOB = { kind: 'work', key: 'a', owner: 'ada', payload: { number: 1 } };

describe.each(ENGINES)('jobs that are leased from the beginning, on $name', (engine) => {
  const shared = shareDatabase(engine);
  const open = async () => {
    const clock = createFakeClock();
    const database = await shared.fresh();
    const queue = createSqlQueue(database, { clock, ids: createFakeIds() });
    const store: Store = createSqlStore(database);
    const add = (key = 'a'): LeasedWrite => {
      const leased = (queue.writes as JobWrites).enqueueLeased?.({ ...JOB, key }, LEASE_MS);
      if (leased === undefined) throw new Error('no leased jobs');
      return leased;
    };
    const write = (...all: readonly LeasedWrite[]) => store.writeAll?.(all.map((one) => one.write));
    return { clock, queue, add, write };
  };
  const lease = (queue: JobQueue) => queue.lease({ kinds: ['work'], limit: 9, leaseMs: LEASE_MS });

  it('belong to their process, which completes them', async () => {
    const { clock, queue, add, write } = await open();
    const { write: one, job } = add();
    expect(job).toEqual({
      ...JOB,
      id: expect.any(String),
      attempt: 1,
      fence: 1,
      leaseUntil: clock.now() + LEASE_MS,
    });
    expect(await write({ write: one, job })).toBe(true);
    expect(await lease(queue)).toEqual([]);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 1 });
    expect(await queue.enqueue(JOB)).toEqual({ id: job.id, added: false });
    expect(await queue.finish(job)).toBe(true);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('may have no owner', async () => {
    const { queue } = await open();
    const { owner: _, ...job } = JOB;
    const leased = (queue.writes as JobWrites).enqueueLeased?.(job, LEASE_MS);
    expect(leased?.job).toMatchObject(job);
    expect(leased?.job).not.toHaveProperty('owner');
  });

  it('go to another worker when their process has crashed', async () => {
    const { clock, queue, add, write } = await open();
    const first = add();
    await write(first);
    await clock.advance(LEASE_MS - 1);
    expect(await lease(queue)).toEqual([]);
    await clock.advance(1);
    const [next] = await lease(queue);
    expect(next).toMatchObject({ ...JOB, id: first.job.id, attempt: 2, fence: 2 });
    expect(await queue.finish(first.job)).toBe(false);
    expect(await queue.renew(first.job, LEASE_MS)).toBe(false);
  });

  it('return to the queue as if they had not run', async () => {
    const { clock, queue, add, write } = await open();
    const { write: one, job } = add();
    await write({ write: one, job });
    expect(await queue.retry(job, { runAt: clock.now(), countAttempt: false })).toBe(true);
    expect(await lease(queue)).toMatchObject([{ attempt: 1, fence: 2 }]);
  });

  it('are not added beside a job with their key', async () => {
    const { queue, add, write } = await open();
    await queue.enqueue({ ...JOB, key: 'a' });
    expect(await write(add('a'))).toBe(false);
    expect(await write(add('b'), add('a'))).toBe(false);
    expect(await lease(queue)).toMatchObject([{ key: 'a', attempt: 1, fence: 1 }]);
    const all = await Promise.all(Array.from({ length: 10 }, () => write(add('b'))));
    expect(all.filter((isDone) => isDone === true)).toHaveLength(1);
  });

  it('wake workers when their lease ends', async () => {
    const { clock, queue, add, write } = await open();
    let calls = 0;
    const stop = queue.onReady(() => {
      calls += 1;
    });
    await write(add());
    expect(calls).toBe(0);
    await clock.advance(LEASE_MS);
    expect(calls).toBe(1);
    stop();
  });
});
