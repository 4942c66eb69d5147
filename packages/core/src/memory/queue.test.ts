import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryQueue } from './queue.ts';

const leaseMs = 60_000;

function setUp() {
  const clock = createFakeClock();
  return { clock, queue: createMemoryQueue({ clock, ids: createFakeIds() }) };
}

describe('memory queue', () => {
  it('sets at most one timer, only while there are listeners and delayed jobs', async () => {
    const { clock, queue } = setUp();
    for (let at = 1; at <= 5; at += 1) {
      await queue.enqueue({ kind: 'a', payload: null, key: `${at}`, runAt: clock.now() + at * 1000 });
    }
    expect(clock.pending).toBe(0);
    const stop = queue.onReady(() => undefined);
    expect(clock.pending).toBe(1);
    await clock.advance(5000);
    expect(clock.pending).toBe(0);
    const jobs = await queue.lease({ kinds: ['a'], limit: 10, leaseMs });
    expect(clock.pending).toBe(1);
    for (const job of jobs) await queue.finish(job);
    expect(clock.pending).toBe(0);
    stop();
  });

  it('notifies of each delayed job when it is due', async () => {
    const { clock, queue } = setUp();
    const start = clock.now();
    const heard: number[] = [];
    queue.onReady(() => heard.push(clock.now() - start));
    await queue.enqueue({ kind: 'a', payload: null, key: 'late', runAt: start + 3000 });
    await queue.enqueue({ kind: 'b', payload: null, key: 'early', runAt: start + 1000 });
    await clock.advance(10_000);
    expect(heard).toEqual([1000, 3000]);
  });

  it('lets a late worker finish, renew or return a job that no other worker has taken', async () => {
    const { clock, queue } = setUp();
    for (const key of ['finish', 'renew', 'retry']) await queue.enqueue({ kind: 'a', payload: null, key });
    const [first, second, third] = await queue.lease({ kinds: ['a'], limit: 3, leaseMs });
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('expected three due jobs');
    await clock.advance(leaseMs);
    expect(await queue.counts()).toEqual({ ready: 3, delayed: 0, leased: 0 });
    expect(await queue.finish(first)).toBe(true);
    expect(await queue.renew(second, leaseMs)).toBe(true);
    expect(await queue.retry(third, { runAt: clock.now() + 1, countAttempt: true })).toBe(true);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 1, leased: 1 });
  });
});
