import { describe, expect, it } from 'vitest';
import { LEASE_MS, QUEUES, type Run, setUp, turns } from '../../test/worker.ts';
import { isJobInterrupted } from './interruption.ts';

describe.each(QUEUES)('lease of a job on a %s', (_name, createQueue) => {
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
});
