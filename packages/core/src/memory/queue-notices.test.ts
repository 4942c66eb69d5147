import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryQueue } from './queue.ts';

const leaseMs = 60_000;

function setUp() {
  const clock = createFakeClock();
  const queue = createMemoryQueue({ clock, ids: createFakeIds() });
  const start = clock.now();
  const heard: number[] = [];
  return {
    ...{ clock, queue, heard },
    listen: () => queue.onReady(() => heard.push(clock.now() - start)),
    add: (key: string, afterMs = 0) =>
      queue.enqueue({ kind: 'a', payload: null, key, runAt: start + afterMs }),
    lease: async () => {
      const [job] = await queue.lease({ kinds: ['a'], limit: 1, leaseMs });
      if (job === undefined) throw new Error('expected a due job');
      return job;
    },
  };
}

describe('the listeners of a memory queue', () => {
  it('are called until they end, also if one fails', async () => {
    const { queue, add } = setUp();
    const calls: string[] = [];
    queue.onReady(() => {
      calls.push('first');
      stop();
      throw new Error('of a listener');
    });
    const stop = queue.onReady(() => calls.push('second'));
    queue.onReady(() => calls.push('third'));
    await add('1');
    expect(calls).toEqual(['first', 'third']);
  });

  it('leave no timer, and find the next due job when they come again', async () => {
    const { clock, listen, add, heard } = setUp();
    await add('1', 1000);
    const stop = listen();
    expect(clock.pending).toBe(1);
    stop();
    expect(clock.pending).toBe(0);
    listen();
    expect(clock.pending).toBe(1);
    await clock.advance(1000);
    expect(heard).toEqual([1000]);
  });

  it('are not called for a job that was due before they came', async () => {
    const { clock, listen, add, heard } = setUp();
    await add('1', 1000);
    await clock.advance(2000);
    listen();
    expect(clock.pending).toBe(0);
    await clock.advance(1000);
    expect(heard).toEqual([]);
  });

  it('are called for a job whose timer has fired too early', async () => {
    const clock = createFakeClock();
    const start = clock.now();
    // As timers of Node may, by a millisecond.
    const early = {
      ...clock,
      timer: (delay: number, call: () => void) => clock.timer(Math.max(1, delay - 1), call),
    };
    const queue = createMemoryQueue({ clock: early, ids: createFakeIds() });
    const heard: number[] = [];
    queue.onReady(() => heard.push(clock.now() - start));
    await queue.enqueue({ kind: 'a', payload: null, key: '1', runAt: start + 1000 });
    await clock.advance(2000);
    expect(heard).toContain(1000);
    expect(clock.pending).toBe(0);
  });

  it('are called when a lease ends, the later for a renewed one', async () => {
    const { clock, listen, add, lease, queue, heard } = setUp();
    await add('1');
    const job = await lease();
    listen();
    await clock.advance(30_000);
    expect(await queue.renew(job, leaseMs)).toBe(true);
    await clock.advance(59_999);
    expect(heard).toEqual([]);
    await clock.advance(1);
    expect(heard).toEqual([90_000]);
    expect(clock.pending).toBe(0);
  });

  it('are called when a job that was given back is due', async () => {
    const { clock, listen, add, lease, queue, heard } = setUp();
    await add('1');
    const first = await lease();
    listen();
    await queue.retry(first, { runAt: clock.now(), countAttempt: true });
    expect(heard).toEqual([0]);
    const second = await lease();
    await queue.retry(second, { runAt: clock.now() + 500, countAttempt: true });
    expect(heard).toEqual([0]);
    await clock.advance(500);
    expect(heard).toEqual([0, 500]);
  });
});

describe('a lease of a memory queue', () => {
  it('has the jobs of several kinds by their time, then as they came', async () => {
    const { queue, clock } = setUp();
    const add = (kind: string, key: string, runAt: number) =>
      queue.enqueue({ kind, payload: null, key, runAt: clock.now() + runAt });
    await add('a', 'a2', -2);
    await add('b', 'b3', -3);
    await add('c', 'c1', -1);
    for (let at = 0; at < 10; at += 1) await add('a', `same ${at}`, 0);
    const jobs = await queue.lease({ kinds: ['a', 'b', 'c'], limit: 13, leaseMs });
    expect(jobs.map(({ key }) => key)).toEqual([
      ...['b3', 'a2', 'c1'],
      ...Array.from({ length: 10 }, (_, at) => `same ${at}`),
    ]);
  });

  it('leaves the counts of its caller as they are', async () => {
    const { queue } = setUp();
    for (const key of ['1', '2', '3']) await queue.enqueue({ kind: 'a', owner: 'x', payload: null, key });
    const held = new Map([['x', 1]]);
    const want = { kinds: ['a'], limit: 3, leaseMs, perOwner: { a: { max: 3, held } } };
    expect(await queue.lease(want)).toHaveLength(2);
    expect([...held]).toEqual([['x', 1]]);
  });
});

it('does nothing in calls that are aborted', async () => {
  const { queue, add, lease } = setUp();
  await add('1');
  const job = await lease();
  await add('2');
  const options = { signal: AbortSignal.abort(new Error('left')) };
  const calls = [
    queue.enqueue({ kind: 'a', payload: null, key: '3' }, options),
    queue.lease({ kinds: ['a'], limit: 1, leaseMs }, options),
    queue.renew(job, 2 * leaseMs, options),
    queue.finish(job, options),
    queue.retry(job, { runAt: 0, countAttempt: true }, options),
    queue.findKeys?.(['1'], options),
    queue.counts(options),
  ];
  for (const call of calls) await expect(call).rejects.toThrow('left');
  expect(await queue.counts()).toEqual({ ready: 1, delayed: 0, leased: 1 });
  expect(await queue.findKeys?.(['1', '2', '3'])).toEqual(['1', '2']);
});
