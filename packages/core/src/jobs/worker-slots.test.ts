import { createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { LEASE_MS, setUp, turns } from '../../test/worker.ts';
import { createMemoryQueue } from '../memory/queue.ts';
import type { JobQueue, LeasedJob } from '../ports/queue.ts';

/** A job as an acceptance leases it. */
const accepted = (key: string, owner?: string): LeasedJob => ({
  ...{ id: key, kind: 'work', key, payload: key, attempt: 1, fence: 1, leaseUntil: LEASE_MS },
  ...(owner !== undefined && { owner }),
});

/** A worker of two slots, one per owner, whose jobs end at their gates. @param before runs before each look. */
function slotted(before: () => unknown = () => undefined, slots = 2, perOwner = 1) {
  const gates: (() => void)[] = [];
  const returned: string[] = [];
  const all = setUp(
    (clock) => {
      const queue: JobQueue = createMemoryQueue({ clock, ids: createFakeIds() });
      return {
        ...queue,
        async lease(want) {
          await before();
          return queue.lease(want);
        },
        async finish({ key }) {
          returned.push(`finished ${key}`);
          return true;
        },
        async retry({ key }, { countAttempt }) {
          returned.push(`returned ${key}, counted: ${countAttempt}`);
          return true;
        },
      };
    },
    (_job, signal) =>
      new Promise((resolve, reject) => {
        const stop = (): void => reject(signal.reason);
        if (signal.aborted) stop();
        signal.addEventListener('abort', stop);
        gates.push(() => resolve(undefined));
      }),
    { work: slots },
    {},
    { work: perOwner },
  );
  const enqueue = (key: string, owner: string) =>
    all.queue.enqueue({ kind: 'work', payload: key, key, owner });
  return { ...all, gates, returned, enqueue };
}

it('runs an accepted job in its slot, and completes it', async () => {
  const { worker, ran, gates, returned } = slotted();
  worker.start();
  await turns();
  const slot = worker.acquire('work', 'ada');
  expect(slot?.leaseMs).toBe(LEASE_MS);
  slot?.start(accepted('a', 'ada'));
  await turns();
  expect(ran).toEqual(['a']);
  gates[0]?.();
  await turns();
  expect(returned).toEqual(['finished a']);
});

it('gives no slot before its first look, for an unknown kind, or after its end', async () => {
  const { worker } = slotted();
  expect(worker.acquire('work', 'ada')).toBeUndefined();
  worker.start();
  expect(worker.acquire('work', 'ada')).toBeUndefined();
  await turns();
  expect(worker.acquire('other', 'ada')).toBeUndefined();
  expect(worker.acquire('work', 'ada')).toBeDefined();
  void worker.drain(0);
  expect(worker.acquire('work', 'bob')).toBeUndefined();
});

it('gives each slot once, within the limits of the kind and of the owner', async () => {
  const { worker } = slotted();
  worker.start();
  await turns();
  const first = worker.acquire('work', 'ada');
  expect(worker.acquire('work', 'ada')).toBeUndefined();
  expect(worker.acquire('work', 'bob')).toBeDefined();
  expect(worker.acquire('work', 'eve')).toBeUndefined();
  first?.cancel();
  first?.cancel();
  await turns();
  expect(worker.acquire('work', 'eve')).toBeDefined();
  expect(worker.acquire('work', 'mia')).toBeUndefined();
});

it('counts a slot against the jobs that it leases', async () => {
  const { worker, enqueue, ran } = slotted();
  worker.start();
  await turns();
  const slot = worker.acquire('work', 'ada');
  await enqueue('b', 'ada');
  await enqueue('c', 'bob');
  await enqueue('d', 'eve');
  await turns();
  expect(ran).toEqual(['c']);
  slot?.start(accepted('a', 'ada'));
  slot?.cancel();
  await turns();
  expect(ran).toEqual(['c', 'a']);
});

it('gives no slot while it looks for jobs, so that jobs that wait come first', async () => {
  let look = (): void => undefined;
  const { worker, enqueue, ran } = slotted(() => new Promise<void>((resolve) => (look = resolve)));
  worker.start();
  await turns();
  look();
  await turns();
  await enqueue('a', 'ada');
  expect(worker.acquire('work', 'bob')).toBeUndefined();
  await turns();
  expect(worker.acquire('work', 'bob')).toBeUndefined();
  look();
  await turns();
  expect(ran).toEqual(['a']);
});

it('gives slots while it looks, beyond the four that the look may fill', async () => {
  let look = (): void => undefined;
  const { worker, enqueue, ran } = slotted(() => new Promise<void>((resolve) => (look = resolve)), 10, 6);
  worker.start();
  await turns();
  look();
  await turns();
  for (const key of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7']) await enqueue(key, 'ada');
  const getGiven = (owner: string) => {
    let given = 0;
    while (worker.acquire('work', owner) !== undefined) given += 1;
    return given;
  };
  expect(getGiven('ada')).toBe(2);
  await turns();
  expect(getGiven('bob')).toBe(2);
  expect([getGiven('eve'), getGiven('mia')]).toEqual([2, 0]);
  look();
  await turns();
  expect(ran).toEqual(['a1', 'a2', 'a3', 'a4']);
});

it('gives slots beyond the sixteen that a look may fill, after one that left jobs', async () => {
  let look = (): void => undefined;
  const { worker, enqueue, ran } = slotted(() => new Promise<void>((resolve) => (look = resolve)), 40, 40);
  for (let at = 0; at < 16; at += 1) await enqueue(`a${at}`, 'ada');
  worker.start();
  await turns();
  look();
  await turns();
  expect(ran).toHaveLength(16);
  let given = 0;
  while (worker.acquire('work', 'bob') !== undefined) given += 1;
  expect(given).toBe(40 - 16 - 16);
});

it('gives a slot that becomes free to the job that waits for it', async () => {
  const { worker, enqueue, gates, ran } = slotted();
  worker.start();
  await turns();
  worker.acquire('work', 'ada')?.start(accepted('a', 'ada'));
  await enqueue('b', 'ada');
  await turns();
  gates[0]?.();
  await turns(1);
  expect(worker.acquire('work', 'ada')).toBeUndefined();
  await turns();
  expect(ran).toEqual(['a', 'b']);
});

it('waits at its end for a job that is being accepted, and returns it to the queue', async () => {
  const { worker, returned } = slotted();
  worker.start();
  await turns();
  const slot = worker.acquire('work', 'ada');
  let isOver = false;
  void worker.drain(0).then(() => {
    isOver = true;
  });
  await turns();
  expect(isOver).toBe(false);
  slot?.start(accepted('a', 'ada'));
  await turns();
  expect(isOver).toBe(true);
  expect(returned).toEqual(['returned a, counted: false']);
});

it('ends without a job that was not accepted', async () => {
  const { worker } = slotted();
  worker.start();
  await turns();
  const slot = worker.acquire('work', 'ada');
  let isOver = false;
  void worker.drain(0).then(() => {
    isOver = true;
  });
  await turns();
  slot?.cancel();
  await turns();
  expect(isOver).toBe(true);
});
