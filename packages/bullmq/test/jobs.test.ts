import { createFakeClock } from '@questline/testing';
import { describe, expect, it, vi } from 'vitest';
import { REDIS_URL } from '../../../test/support/redis-server.ts';
import { createBullQueue } from '../src/index.ts';
import { LEASE_MS, shareConnection } from './opened.ts';

const ADA = { owner: 'ada' };

describe.skipIf(REDIS_URL === undefined)('a job on BullMQ', () => {
  const open = shareConnection();

  it('is a delayed job for the tools of BullMQ, until its time', async () => {
    const { connection, add, queue, toKey, openTool } = open();
    const runAt = Date.now() + 60_000;
    const { id, added } = await add('one', { ...ADA, runAt });
    expect(added).toBe(true);
    const tool = openTool('ada');
    const stored = (await tool.getJob(id))?.asJSON();
    expect(stored).toMatchObject({
      ...{ id, name: 'work', data: '{"key":"one"}', progress: 0, deduplicationId: 'one' },
      ...{ attemptsMade: 0, attemptsStarted: 0, stalledCounter: 0, returnvalue: 'null' },
    });
    expect(stored?.opts).toMatchObject({ removeOnComplete: true, deduplication: { id: 'one' } });
    expect(Number(stored?.timestamp) + Number(stored?.opts.delay)).toBe(runAt);
    expect(stored?.timestamp).toBeLessThanOrEqual(Date.now());
    const score = await connection.zscore(toKey('ada', 'delayed'), id);
    expect(Math.floor(Number(score) / 4096)).toBe(runAt);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 1, leased: 0 });
  });

  it('is due in the order of times that have passed', async () => {
    const { add, lease, openTool } = open();
    const now = Date.now();
    const { id } = await add('second', { ...ADA, runAt: now - 20 });
    await add('first', { ...ADA, runAt: now - 30 });
    await add('third', { ...ADA, runAt: now - 10 });
    const stored = (await openTool('ada').getJob(id))?.asJSON();
    expect([stored?.timestamp, stored?.opts.delay]).toEqual([now - 21, 1]);
    expect((await lease()).map(({ key }) => key)).toEqual(['first', 'second', 'third']);
  });

  it('has its key once, and leaves nothing when it is finished', async () => {
    const { connection, prefix, queue, add, mustLease } = open();
    const { id } = await add('one', ADA);
    expect(await add('one', ADA)).toEqual({ id, added: false });
    expect(await queue.counts()).toEqual({ ready: 1, delayed: 0, leased: 0 });
    const job = await mustLease();
    expect(job).toMatchObject({ id, kind: 'work', key: 'one', payload: { key: 'one' }, attempt: 1, ...ADA });
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 1 });
    await add('two', ADA);
    expect(await queue.finish(job)).toBe(true);
    // The next one is not taken with it.
    expect(await queue.counts()).toEqual({ ready: 1, delayed: 0, leased: 0 });
    expect(await queue.finish(job)).toBe(false);
    expect((await connection.keys(`${prefix}:*${id}*`)).length).toBe(0);
  });

  it('has no owner if it was added without one', async () => {
    const { add, mustLease } = open();
    await add('one');
    expect(await mustLease()).not.toHaveProperty('owner');
  });

  it.each([
    [LEASE_MS, { leaseMs: LEASE_MS }],
    [20_000, { leaseMs: LEASE_MS, leaseMsByKind: { work: 20_000 } }],
    [LEASE_MS, { leaseMs: LEASE_MS, leaseMsByKind: { other: 20_000 } }],
    [60_000, { leaseMs: 60_000 }],
  ])('is leased for %d ms', async (ms, want) => {
    const { connection, queue, add, toKey } = open();
    await add('one', ADA);
    const before = Date.now();
    const [job] = await queue.lease({ kinds: ['work'], limit: 1, ...want });
    const { leaseUntil = 0, id } = job ?? {};
    expect(leaseUntil).toBeGreaterThanOrEqual(before + ms);
    expect(leaseUntil).toBeLessThanOrEqual(Date.now() + ms);
    const left = await connection.pttl(toKey('ada', `${id}:lock`));
    expect(left).toBeLessThanOrEqual(ms);
    expect(left).toBeGreaterThan(ms - 10_000);
  });

  it('keeps the lock of its renewal', async () => {
    const { connection, queue, add, mustLease, toKey } = open();
    await add('one', ADA);
    const job = await mustLease();
    expect(await queue.renew(job, 90_000)).toBe(true);
    expect(await connection.pttl(toKey('ada', `${job.id}:lock`))).toBeGreaterThan(80_000);
    await queue.finish(job);
    expect(await queue.renew(job, 90_000)).toBe(false);
  });

  it('goes to another worker after a shorter renewal', async () => {
    const { queue, add, lease, mustLease } = open();
    await add('one', ADA);
    expect(await queue.renew(await mustLease(), 20)).toBe(true);
    await expect.poll(() => lease()).toMatchObject([{ key: 'one', attempt: 2 }]);
  });

  it('has an id by the clock of the queue', async () => {
    const { connection, prefix } = open();
    const ids: string[] = [];
    for (const now of [2_000_000_000_000, 1_000_000_000_000]) {
      const queue = createBullQueue({ connection, prefix, clock: createFakeClock(now) });
      ids.push((await queue.enqueue({ kind: 'work', key: `${now}`, payload: null })).id);
    }
    expect([...ids].sort()).toEqual([...ids].reverse());
  });

  it.each([
    ['another attempt', true, 2],
    ['the same attempt', false, 1],
  ])('that is returned now runs again as %s', async (_, countAttempt, attempt) => {
    const { queue, add, mustLease } = open();
    await add('one', ADA);
    const job = await mustLease();
    expect(await queue.retry(job, { runAt: Date.now() - 5, countAttempt })).toBe(true);
    expect(await queue.counts()).toEqual({ ready: 1, delayed: 0, leased: 0 });
    const next = await mustLease();
    expect(next).toMatchObject({ id: job.id, attempt });
    expect(next.fence).toBeGreaterThan(job.fence);
    expect(await queue.retry(job, { runAt: Date.now(), countAttempt })).toBe(false);
  });

  it('that is returned for later waits until then', async () => {
    const { connection, queue, add, lease, mustLease, toKey } = open();
    await add('one', ADA);
    const runAt = Date.now() + 60_000;
    const job = await mustLease();
    await queue.retry(job, { runAt, countAttempt: true });
    const score = await connection.zscore(toKey('ada', 'delayed'), job.id);
    expect(Math.floor(Number(score) / 4096)).toBe(runAt);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 1, leased: 0 });
    expect(await lease()).toEqual([]);
  });

  it('is counted as ready, and leased at the first call, once its lock has ended', async () => {
    const { queue, add, lease, mustLease, untilDue } = open();
    await add('one', ADA);
    const first = await mustLease(20);
    await untilDue('ada');
    const again = await lease();
    expect(again).toMatchObject([{ id: first.id, attempt: 2 }]);
    expect(await queue.finish(first)).toBe(false);
    const [second] = again;
    expect(second && (await queue.renew(second, 20))).toBe(true);
    await untilDue('ada');
    expect(await queue.counts()).toEqual({ ready: 1, delayed: 0, leased: 0 });
  });

  it('is announced to listeners when it is added and returned, and not when it is known or lost', async () => {
    const { queue, add, mustLease } = open();
    const heard = vi.fn();
    const stop = queue.onReady(heard);
    await add('one', ADA);
    expect(heard).toHaveBeenCalledTimes(1);
    await add('one', ADA);
    const job = await mustLease();
    expect(heard).toHaveBeenCalledTimes(1);
    const back = { runAt: Date.now() - 5, countAttempt: false };
    await queue.retry(job, back);
    expect(heard).toHaveBeenCalledTimes(2);
    expect(await queue.retry(job, back)).toBe(false);
    expect(heard).toHaveBeenCalledTimes(2);
    stop();
  });

  it('is left as it is by calls whose signal is aborted', async () => {
    const { queue, add, mustLease } = open();
    await add('one', ADA);
    const job = await mustLease();
    await add('two', ADA);
    const signal = AbortSignal.abort(new Error('left'));
    const calls = [
      () => queue.enqueue({ kind: 'work', key: 'three', payload: null }, { signal }),
      () => queue.lease({ kinds: ['work'], limit: 1, leaseMs: LEASE_MS }, { signal }),
      () => queue.renew(job, LEASE_MS, { signal }),
      () => queue.finish(job, { signal }),
      () => queue.retry(job, { runAt: Date.now(), countAttempt: true }, { signal }),
      () => queue.counts({ signal }),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow('left');
    expect(await queue.counts()).toEqual({ ready: 1, delayed: 0, leased: 1 });
  });
});
