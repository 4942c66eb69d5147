import { createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { LEASE_MS, type Run, setUp, turns } from '../../test/worker.ts';
import { createMemoryQueue } from '../memory/queue.ts';
import type { LeasedJob } from '../ports/queue.ts';

/** A worker that runs one job. @param beforeLease runs before each look. */
async function running(run: Run, beforeLease: () => unknown = () => undefined) {
  const all = setUp(
    (clock) => {
      const queue = createMemoryQueue({ clock, ids: createFakeIds() });
      return {
        ...queue,
        async lease(want) {
          await beforeLease();
          return queue.lease(want);
        },
      };
    },
    run,
    { work: 2 },
  );
  all.worker.start();
  await all.queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
  await turns();
  /** Drains. `isOver`: the worker has ended. */
  const drain = (timeoutMs: number) => {
    const state = { isOver: false };
    void all.worker.drain(timeoutMs).then(() => {
      state.isOver = true;
    });
    return state;
  };
  const leaseAll = (): Promise<readonly LeasedJob[]> =>
    all.queue.lease({ kinds: ['work'], limit: 9, leaseMs: LEASE_MS });
  return { ...all, drain, leaseAll };
}

it('ends at once without jobs, and starts no timer', async () => {
  const { worker, clock, drain } = await running(async () => undefined);
  const state = drain(5000);
  await turns();
  expect([state.isOver, clock.pending, worker.running()]).toEqual([true, 0, false]);
  expect(drain(5000).isOver).toBe(false);
});

it('interrupts a job only after its time, and waits five seconds for its end', async () => {
  let signal: AbortSignal | undefined;
  const { clock, drain } = await running((_job, given) => {
    signal = given;
    return new Promise(() => undefined);
  });
  const state = drain(5000);
  await turns();
  await clock.advance(4999);
  await turns();
  expect(signal?.aborted).toBe(false);
  await clock.advance(1);
  await turns();
  expect(signal?.reason).toMatchObject({ reason: 'stopping' });
  await clock.advance(4999);
  await turns();
  expect(state.isOver).toBe(false);
  await clock.advance(1);
  await turns();
  expect([state.isOver, clock.pending]).toEqual([true, 0]);
});

it('ends with its last job', async () => {
  let end = (): void => undefined;
  const { clock, drain, leaseAll } = await running(
    () => new Promise((resolve) => (end = () => resolve(undefined))),
  );
  const state = drain(5000);
  await clock.advance(1000);
  expect(state.isOver).toBe(false);
  end();
  await turns();
  expect([state.isOver, clock.pending]).toEqual([true, 0]);
  expect(await leaseAll()).toEqual([]);
});

it('interrupts jobs at once when there is no time', async () => {
  let signal: AbortSignal | undefined;
  const { drain, leaseAll } = await running((_job, given) => {
    signal = given;
    return new Promise((_resolve, reject) => given.addEventListener('abort', () => reject(given.reason)));
  });
  const state = drain(0);
  await turns();
  expect(signal?.aborted).toBe(true);
  expect(state.isOver).toBe(true);
  expect(await leaseAll()).toMatchObject([{ attempt: 1 }]);
});

it('keeps the lease of a job that cleans up', async () => {
  const { clock, drain, queue } = await running(() => new Promise(() => undefined));
  let renewals = 0;
  const renew = queue.renew.bind(queue);
  queue.renew = async (...args) => {
    renewals += 1;
    return renew(...args);
  };
  drain(LEASE_MS);
  await clock.advance(LEASE_MS);
  expect(renewals).toBeGreaterThan(0);
});

it('returns a job that a look finds while it ends', async () => {
  let look = (): void => undefined;
  const { drain, queue, ran } = await running(
    (_job, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    () => new Promise<void>((resolve) => (look = resolve)),
  );
  expect(ran).toEqual([]);
  const state = drain(5000);
  await turns();
  expect(state.isOver).toBe(false);
  look();
  await turns();
  expect(ran).toEqual([1]);
  expect(state.isOver).toBe(true);
  expect(await queue.counts()).toEqual({ ready: 1, delayed: 0, leased: 0 });
});

it('looks for no more jobs', async () => {
  let end = (): void => undefined;
  let looks = 0;
  const { clock, drain, queue } = await running(
    () => new Promise((resolve) => (end = () => resolve(undefined))),
    () => {
      looks += 1;
    },
  );
  drain(5000);
  const before = looks;
  await queue.enqueue({ kind: 'work', payload: 2, key: 'b' });
  end();
  await turns();
  await clock.advance(3000);
  await turns();
  expect(looks).toBe(before);
});
