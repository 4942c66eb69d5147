import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock, createFakeIds, type FakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryQueue } from '../memory/queue.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { JobQueue } from '../ports/queue.ts';
import { createStoreQueue } from './store-queue.ts';
import { createWorker, isJobInterrupted, type JobHandler, type Worker } from './worker.ts';

const LEASE_MS = 60_000;

const queues: Record<string, (clock: FakeClock) => JobQueue> = {
  'memory queue': (clock) => createMemoryQueue({ clock, ids: createFakeIds() }),
  'store queue': (clock) => createStoreQueue({ store: createMemoryStore(), clock, ids: createFakeIds() }),
};

describe.each(Object.entries(queues))('worker on a %s', (_name, createQueue) => {
  it('does nothing before it is started, then everything that waits', async () => {
    const { queue, worker, ran } = setUp(createQueue, async () => undefined);
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    expect(ran).toEqual([]);
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 2, key: 'b' });
    await turns();
    expect(ran).toEqual([1, 2]);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('runs as many at a time as it may, of each kind', async () => {
    const gates: (() => void)[] = [];
    const { queue, worker, ran } = setUp(
      createQueue,
      () => new Promise((resolve) => gates.push(() => resolve(undefined))),
      { work: 2, other: 1 },
    );
    worker.start();
    for (const key of ['a', 'b', 'c']) await queue.enqueue({ kind: 'work', payload: key, key });
    for (const key of ['x', 'y']) await queue.enqueue({ kind: 'other', payload: key, key });
    await turns();
    expect(ran).toEqual(['a', 'b', 'x']);
    gates[0]?.();
    await turns();
    expect(ran).toEqual(['a', 'b', 'x', 'c']);
    gates[2]?.();
    await turns();
    expect(ran).toEqual(['a', 'b', 'x', 'c', 'y']);
  });

  it('waits for the time a job is to run at', async () => {
    const { clock, queue, worker, ran } = setUp(createQueue, async () => undefined);
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 'later', key: 'a', runAt: clock.now() + 5000 });
    await clock.advance(4999);
    await turns();
    expect(ran).toEqual([]);
    await clock.advance(1);
    await turns();
    expect(ran).toEqual(['later']);
  });

  it('finds by polling what it was not called for', async () => {
    const { clock, queue, worker, ran } = setUp(
      (time) => ({ ...createQueue(time), onReady: () => () => undefined }),
      async () => undefined,
    );
    worker.start();
    await turns();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    expect(ran).toEqual([]);
    await clock.advance(1000);
    await turns();
    expect(ran).toEqual([1]);
  });

  it('lives on with a queue that throws instead of rejecting, while its lease lasts', async () => {
    let interruption: AbortSignal | undefined;
    const { clock, worker, queue, incidents } = setUp(
      (time) => ({
        ...createQueue(time),
        renew() {
          throw new Error('away');
        },
      }),
      (_job, signal) => {
        interruption ??= signal;
        return new Promise(() => undefined);
      },
    );
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    await clock.advance(LEASE_MS - 1);
    expect(interruption?.aborted).toBe(false);
    expect(incidents.length).toBeGreaterThan(0);
    await clock.advance(LEASE_MS);
    expect(isJobInterrupted(interruption?.reason)).toBe(true);
  });

  it('tries a failed job again after growing pauses, and says why', async () => {
    const attempts: { attempt: number; at: number }[] = [];
    const { clock, queue, worker, incidents } = setUp(createQueue, async (job) => {
      attempts.push({ attempt: job.attempt, at: clock.now() - begun });
      if (job.attempt < 4) throw new Error(`failure ${job.attempt}`);
      return undefined;
    });
    const begun = clock.now();
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    for (let second = 0; second < 10; second += 1) {
      await clock.advance(1000);
      await turns();
    }
    expect(attempts).toEqual([
      { attempt: 1, at: 0 },
      { attempt: 2, at: 1000 },
      { attempt: 3, at: 3000 },
      { attempt: 4, at: 7000 },
    ]);
    expect(incidents).toEqual(['job:work', 'job:work', 'job:work']);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('keeps the lease of a long job', async () => {
    let finish = (): void => undefined;
    const { clock, queue, worker, ran } = setUp(
      createQueue,
      () => new Promise((resolve) => (finish = () => resolve(undefined))),
    );
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    for (let minute = 0; minute < 10; minute += 1) {
      await clock.advance(LEASE_MS);
      expect(await queue.lease({ kinds: ['work'], limit: 1, leaseMs: LEASE_MS })).toEqual([]);
    }
    finish();
    await turns();
    expect(ran).toEqual([1]);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('interrupts a job whose lease somebody else has got, and changes nothing of it', async () => {
    let reason: unknown;
    const run: Run = (_job, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(signal.reason as Error);
        });
      });
    const { clock, queue, worker } = setUp(createQueue, run, { work: 1 });
    let isPaused = false;
    const renew = queue.renew.bind(queue);
    queue.renew = async (...args) => (isPaused ? true : renew(...args));
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    isPaused = true;
    await clock.advance(LEASE_MS);
    const [other] = await queue.lease({ kinds: ['work'], limit: 1, leaseMs: LEASE_MS });
    isPaused = false;
    await clock.advance(LEASE_MS / 3);
    await turns();
    expect(isJobInterrupted(reason) && reason.reason).toBe('lease-lost');
    expect(other?.fence).toBe(2);
    expect(await queue.counts()).toMatchObject({ leased: 1 });
    expect(other && (await queue.finish(other))).toBe(true);
  });

  it('leases jobs of a kind for the time that this kind says, and keeps the lease while they last', async () => {
    let finish = (): void => undefined;
    const run: Run = () => new Promise((resolve) => (finish = () => resolve(undefined)));
    const { clock, queue, worker, ran } = setUp(createQueue, run, { work: 1 }, { work: 6000 });
    const renewed: number[] = [];
    const renew = queue.renew.bind(queue);
    queue.renew = async (job, leaseMs) => {
      renewed.push(leaseMs);
      return renew(job, leaseMs);
    };
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1000);
      await turns();
      expect(await queue.lease({ kinds: ['work'], limit: 1, leaseMs: 1 })).toEqual([]);
    }
    expect(renewed).toEqual(Array.from({ length: 30 }, () => 6000));
    finish();
    await turns();
    expect(ran).toEqual([1]);
    expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
  });

  it('hands out the job of a worker that vanished after the lease of its kind, or after that of all if it was prolonged', async () => {
    for (const [isProlonged, leaseMs] of [[false, 6000] as const, [true, 60_000] as const]) {
      const run: Run = async (_job, _signal, prolong) => {
        if (isProlonged) await prolong();
        return new Promise(() => undefined);
      };
      const { clock, queue, worker } = setUp(createQueue, run, { work: 1 }, { work: 6000 });
      worker.start();
      await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
      await turns();
      // It vanishes: its heart beats no more.
      queue.renew = async () => true;
      await clock.advance(leaseMs - 1);
      expect(await queue.lease({ kinds: ['work'], limit: 1, leaseMs: 1 })).toEqual([]);
      await clock.advance(1);
      expect(await queue.lease({ kinds: ['work'], limit: 1, leaseMs: 1 })).toHaveLength(1);
    }
  });

  it('renews a prolonged lease no sooner than a long one, and never lets an older renewal have the last word', async () => {
    let prolongIt = async (): Promise<void> => undefined;
    const run: Run = (_job, _signal, prolong) => {
      prolongIt = prolong;
      return new Promise(() => undefined);
    };
    const { clock, queue, worker } = setUp(createQueue, run, { work: 1 }, { work: 6000 });
    const renewed: number[] = [];
    let answer = (): void => undefined;
    queue.renew = (_job, leaseMs) => {
      renewed.push(leaseMs);
      return new Promise((resolve) => {
        answer = () => resolve(true);
      });
    };
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    await clock.advance(2000);
    const prolonged = prolongIt();
    await turns();
    expect(renewed).toEqual([6000]);
    answer();
    await turns();
    expect(renewed).toEqual([6000, 60_000]);
    answer();
    await prolonged;
    await clock.advance(17_999);
    expect(renewed).toHaveLength(2);
    await clock.advance(2001);
    expect(renewed).toEqual([6000, 60_000, 60_000]);
  });

  it('tells a job that its lease is lost before it does what must not be done twice', async () => {
    const outcomes: unknown[] = [];
    const { queue, worker } = setUp(
      createQueue,
      async (job, _signal, prolong) => {
        await queue.finish(job);
        await prolong().catch((error: unknown) => outcomes.push(error));
        return undefined;
      },
      { work: 1 },
      { work: 6000 },
    );
    worker.start();
    await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
    await turns();
    expect(outcomes.map((error) => isJobInterrupted(error) && error.reason)).toEqual(['lease-lost']);
  });

  it('drains: takes nothing new, lets work end, and gives back the rest as if it had not run', async () => {
    const gates: (() => void)[] = [];
    const { clock, queue, worker, ran } = setUp(
      createQueue,
      (_job, signal) =>
        new Promise((resolve, reject) => {
          gates.push(() => resolve(undefined));
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
      { work: 2 },
    );
    worker.start();
    for (const key of ['a', 'b', 'c']) await queue.enqueue({ kind: 'work', payload: key, key });
    await turns();
    const drained = worker.drain(5000);
    gates[0]?.();
    await turns();
    expect(ran).toEqual(['a', 'b']);
    await clock.advance(5000);
    await drained;
    expect(await queue.counts()).toEqual({ ready: 2, delayed: 0, leased: 0 });
    const back = await queue.lease({ kinds: ['work'], limit: 9, leaseMs: LEASE_MS });
    expect(back.map(({ payload, attempt }) => [payload, attempt]).sort()).toEqual([
      ['b', 1],
      ['c', 1],
    ]);
    expect(clock.pending).toBe(0);
  });
});

type Run = JobHandler['run'];

function setUp(
  createQueue: (clock: FakeClock) => JobQueue,
  run: Run,
  concurrency: Record<string, number> = { work: 4 },
  leaseMsOf: Record<string, number> = {},
): { clock: FakeClock; queue: JobQueue; worker: Worker; ran: unknown[]; incidents: string[] } {
  const clock = createFakeClock();
  const queue = createQueue(clock);
  const ran: unknown[] = [];
  const incidents: string[] = [];
  const worker = createWorker({
    queue,
    clock,
    settings: { leaseMs: LEASE_MS, pollMs: 1000, concurrency },
    onError: ({ operation }) => incidents.push(operation),
    handlers: Object.keys(concurrency).map((kind) => ({
      kind,
      concurrency: 1,
      ...(leaseMsOf[kind] !== undefined && { leaseMs: leaseMsOf[kind] }),
      run: (job, signal, prolong) => {
        ran.push(job.payload);
        return run(job, signal, prolong);
      },
    })),
  });
  return { clock, queue, worker, ran, incidents };
}

/** Lets everything that is ready run. */
async function turns(count = 10): Promise<void> {
  for (let index = 0; index < count; index += 1) await turn();
}
