import { createMemoryPublisher } from '@questline/core/memory';
import type { EngineWrite, JobQueue, JobWrites, Store } from '@questline/core/ports';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlQueue, createSqlStore } from '../src/index.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

const LEASE_MS = 60_000;
const JOB = { kind: 'work', key: 'a', owner: 'ada', payload: { number: 1 } };

describe.each(ENGINES)('writes of jobs on $name', (engine) => {
  const shared = shareDatabase(engine);
  const open = async () => {
    const clock = createFakeClock();
    const database = await shared.fresh();
    const publisher = createMemoryPublisher();
    const topics: string[] = [];
    const heard = {
      ...publisher,
      publish(topic: string, message: string) {
        topics.push(topic);
        return publisher.publish(topic, message);
      },
    };
    const queue = createSqlQueue(database, { clock, ids: createFakeIds(), publisher: heard });
    const store: Store = createSqlStore(database);
    const writes = queue.writes as JobWrites;
    const write = (...all: readonly EngineWrite[]) => store.writeAll?.(all);
    return { clock, queue, writes, write, topics };
  };
  const lease = (queue: JobQueue, limit = 9) => queue.lease({ kinds: ['work'], limit, leaseMs: LEASE_MS });
  const leaseOne = async (queue: JobQueue) => {
    const [job] = await lease(queue, 1);
    if (job === undefined) throw new Error('no job');
    return job;
  };

  it('add a job that workers hear of and lease at once', async () => {
    const { clock, queue, writes, write, topics } = await open();
    let calls = 0;
    const stop = queue.onReady(() => {
      calls += 1;
    });
    expect(await write(writes.enqueue({ ...JOB, runAt: clock.now() }))).toBe(true);
    await clock.advance(0);
    expect([calls, topics.length]).toEqual([1, 1]);
    expect(await lease(queue)).toEqual([
      { ...JOB, id: expect.any(String), attempt: 1, fence: 1, leaseUntil: clock.now() + LEASE_MS },
    ]);
    stop();
  });

  it('add a job without an owner, with all that JSON can hold', async () => {
    const { queue, writes, write } = await open();
    const { owner: _, ...job } = { ...JOB, payload: { text: '"\\\u{1f30d}', list: [1, null, true] } };
    await write(writes.enqueue(job));
    const [leased] = await lease(queue);
    expect(leased).toMatchObject(job);
    expect(leased).not.toHaveProperty('owner');
  });

  it('add a job that runs later, of which workers hear at its time', async () => {
    const { clock, queue, writes, write, topics } = await open();
    let calls = 0;
    const stop = queue.onReady(() => {
      calls += 1;
    });
    expect(await write(writes.enqueue({ ...JOB, runAt: clock.now() + 1000 }))).toBe(true);
    await clock.advance(999);
    expect([calls, topics.length]).toEqual([0, 0]);
    expect(await lease(queue)).toEqual([]);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 1, leased: 0 });
    await clock.advance(1);
    expect(calls).toBe(1);
    expect(await lease(queue)).toMatchObject([JOB]);
    stop();
  });

  it('have no effect beside a job with the key, not even on the other writes of the step', async () => {
    const { queue, writes, write } = await open();
    await queue.enqueue({ ...JOB, payload: 'first' });
    expect(await write(writes.enqueue(JOB))).toBe(false);
    expect(await write(writes.enqueue({ ...JOB, key: 'b' }), writes.enqueue(JOB))).toBe(false);
    expect(await lease(queue)).toMatchObject([{ key: 'a', payload: 'first' }]);
  });

  it('remove a leased job, and free its key', async () => {
    const { queue, writes, write } = await open();
    await queue.enqueue(JOB);
    await queue.enqueue({ ...JOB, key: 'b' });
    const job = await leaseOne(queue);
    expect(await write(writes.finish(job))).toBe(true);
    expect(await queue.counts()).toEqual({ ready: 1, delayed: 0, leased: 0 });
    expect(await write(writes.finish(job))).toBe(false);
    expect(await queue.enqueue({ ...JOB, key: job.key })).toMatchObject({ added: true });
  });

  it('remove no job whose lease another worker has, and do nothing else in the step', async () => {
    const { clock, queue, writes, write } = await open();
    await queue.enqueue(JOB);
    const lost = await leaseOne(queue);
    await clock.advance(LEASE_MS);
    const held = await leaseOne(queue);
    expect(await write(writes.finish(lost), writes.enqueue({ ...JOB, key: 'b' }))).toBe(false);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 1 });
    expect(await write(writes.finish(held), writes.enqueue({ ...JOB, key: 'b' }))).toBe(true);
    expect(await lease(queue)).toMatchObject([{ key: 'b' }]);
  });
});
