import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock, createFakeIds, type FakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryQueue } from '../memory/queue.ts';
import { createMemoryStore } from '../memory/store.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { JobHandler } from './handler.ts';
import { isJobInterrupted } from './interruption.ts';
import { createStoreQueue } from './store-queue.ts';
import { createWorker, type Worker } from './worker.ts';

const LEASE_MS = 60_000;

const queues: Record<string, (clock: FakeClock) => JobQueue> = {
  'memory queue': (clock) => createMemoryQueue({ clock, ids: createFakeIds() }),
  'store queue': (clock) => createStoreQueue({ store: createMemoryStore(), clock, ids: createFakeIds() }),
};

describe.each(Object.entries(queues))('worker on a %s', (_name, createQueue) => {
  it('does nothing before it is started, then runs all waiting jobs', async () => {
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

  it('runs the configured number of concurrent jobs of each kind', async () => {
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

  it('leaves slots free for other owners when one owner has more jobs than its limit', async () => {
    const gates: (() => void)[] = [];
    const { queue, worker, ran } = setUp(
      createQueue,
      () => new Promise((resolve) => gates.push(() => resolve(undefined))),
      { work: 6 },
    );
    worker.start();
    for (let at = 0; at < 5; at += 1) {
      await queue.enqueue({ kind: 'work', payload: `hog ${at}`, key: `hog ${at}`, owner: 'hog' });
    }
    await turns();
    expect(ran).toEqual(['hog 0', 'hog 1']);
    for (const owner of ['a', 'b']) await queue.enqueue({ kind: 'work', payload: owner, key: owner, owner });
    await queue.enqueue({ kind: 'work', payload: 'none', key: 'none' });
    await turns();
    expect(ran.slice(2).sort()).toEqual(['a', 'b', 'none']);
    gates[0]?.();
    await turns();
    expect(ran.slice(5)).toEqual(['hog 2']);
  });

  it('runs the configured number of jobs of one owner', async () => {
    const { queue, worker, ran } = setUp(
      createQueue,
      () => new Promise(() => undefined),
      { work: 6 },
      {},
      { work: 4 },
    );
    worker.start();
    for (let at = 0; at < 6; at += 1) {
      await queue.enqueue({ kind: 'work', payload: at, key: `${at}`, owner: 'a' });
    }
    await turns();
    expect(ran).toEqual([0, 1, 2, 3]);
  });

  it('waits until a job is due', async () => {
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

  it('finds jobs without a notification by polling', async () => {
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

  it('continues with a queue that throws instead of rejecting, while its lease lasts', async () => {
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

  it('retries a failed job with growing delays, and reports the reason', async () => {
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

  it('interrupts a job whose lease another worker holds, and does not change it', async () => {
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

  it('leases jobs of a kind for the time of this kind, and renews the lease while they run', async () => {
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

  it('delivers the job of a crashed worker again after the lease of its kind, or after the default lease if it was extended', async () => {
    for (const [isProlonged, leaseMs] of [[false, 6000] as const, [true, 60_000] as const]) {
      const run: Run = async (_job, _signal, extendLease) => {
        if (isProlonged) await extendLease();
        return new Promise(() => undefined);
      };
      const { clock, queue, worker } = setUp(createQueue, run, { work: 1 }, { work: 6000 });
      worker.start();
      await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
      await turns();
      // The worker crashes: its heartbeats have no effect.
      queue.renew = async () => true;
      await clock.advance(leaseMs - 1);
      expect(await queue.lease({ kinds: ['work'], limit: 1, leaseMs: 1 })).toEqual([]);
      await clock.advance(1);
      expect(await queue.lease({ kinds: ['work'], limit: 1, leaseMs: 1 })).toHaveLength(1);
    }
  });

  it('renews an extended lease no sooner than a long one, and ignores the result of an older renewal', async () => {
    let prolongIt = async (): Promise<void> => undefined;
    const run: Run = (_job, _signal, extendLease) => {
      prolongIt = extendLease;
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

  it('interrupts a job with a lost lease before a step that must not run twice', async () => {
    const outcomes: unknown[] = [];
    const { queue, worker } = setUp(
      createQueue,
      async (job, _signal, extendLease) => {
        await queue.finish(job);
        await extendLease().catch((error: unknown) => outcomes.push(error));
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

  it('drains: accepts no new jobs, lets running ones end, and returns the rest as if they had not run', async () => {
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
  leaseMsByKind: Record<string, number> = {},
  maxPerOwner: Record<string, number> = {},
): { clock: FakeClock; queue: JobQueue; worker: Worker; ran: unknown[]; incidents: string[] } {
  const clock = createFakeClock();
  const queue = createQueue(clock);
  const ran: unknown[] = [];
  const incidents: string[] = [];
  const worker = createWorker({
    queue,
    clock,
    settings: { leaseMs: LEASE_MS, pollMs: 1000, concurrency, maxPerOwner },
    onError: ({ operation }) => incidents.push(operation),
    handlers: Object.keys(concurrency).map((kind) => ({
      kind,
      concurrency: 1,
      ...(leaseMsByKind[kind] !== undefined && { leaseMs: leaseMsByKind[kind] }),
      run: (job, signal, extendLease) => {
        ran.push(job.payload);
        return run(job, signal, extendLease);
      },
    })),
  });
  return { clock, queue, worker, ran, incidents };
}

/** Runs everything that is ready. */
async function turns(count = 10): Promise<void> {
  for (let index = 0; index < count; index += 1) await turn();
}
