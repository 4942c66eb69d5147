import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { setUp, turns } from '../../test/worker.ts';
import { createMemoryQueue } from '../memory/queue.ts';
import type { JobQueue, LeaseWanted } from '../ports/queue.ts';
import type { JobHandler } from './handler.ts';
import { createWorker } from './worker.ts';

type Options = Partial<Pick<JobHandler, 'concurrency' | 'maxPerOwner'>>;

/** A worker whose looks are recorded. @param before runs before each look. */
function watched(most: Record<string, number>, before: (look: number) => unknown = () => undefined) {
  const looks: LeaseWanted[] = [];
  const gates: (() => void)[] = [];
  const all = setUp(
    (clock) => {
      const queue = createMemoryQueue({ clock, ids: createFakeIds() });
      const lease: JobQueue['lease'] = async (want) => {
        looks.push(structuredClone(want));
        await before(looks.length);
        return queue.lease(want);
      };
      return { ...queue, lease };
    },
    () => new Promise((resolve) => gates.push(() => resolve(undefined))),
    most,
  );
  const enqueue = async (...keys: readonly string[]) => {
    for (const key of keys) await all.queue.enqueue({ kind: 'work', payload: key, key });
  };
  return { ...all, looks, gates, enqueue };
}

const keysTo = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`);

it('asks for as many jobs as there are free slots, by kind', async () => {
  const { worker, enqueue, looks, ran } = watched({ work: 3, other: 2 });
  worker.start();
  await turns();
  expect(looks[0]).toMatchObject({ limit: 5, limitByKind: { work: 3, other: 2 }, kinds: ['work', 'other'] });
  await enqueue('a');
  await turns();
  await enqueue('b');
  await turns();
  expect(looks.at(-1)).toMatchObject({ limit: 4, limitByKind: { work: 2, other: 2 } });
  await enqueue('c', 'd', 'e');
  await turns();
  expect(ran).toEqual(['a', 'b', 'c']);
});

it('frees one slot per job', async () => {
  const { worker, enqueue, gates, ran } = watched({ work: 2 });
  worker.start();
  await enqueue('a');
  await turns();
  gates[0]?.();
  await turns();
  await enqueue('b', 'c', 'd', 'e');
  await turns();
  expect(ran).toEqual(['a', 'b', 'c']);
});

it('starts more jobs than one look finds', async () => {
  const { worker, enqueue, looks, ran } = watched({ work: 50 });
  await enqueue(...keysTo(40));
  worker.start();
  await turns(40);
  expect(ran).toHaveLength(40);
  expect(looks.map(({ limit }) => limit)).toEqual([16, 16, 16]);
});

it('looks at once when it starts', async () => {
  const { worker, enqueue, ran } = watched({ work: 1 });
  await enqueue('a');
  worker.start();
  await turns();
  expect(ran).toEqual(['a']);
});

it('looks once for jobs that are enqueued together', async () => {
  const { worker, enqueue, looks, ran } = watched({ work: 9 });
  worker.start();
  await turns();
  const before = looks.length;
  await Promise.all([enqueue('a'), enqueue('b'), enqueue('c')]);
  await turns();
  expect(ran).toHaveLength(3);
  expect(looks.length - before).toBe(1);
});

it('does not look again when a job ends that held no slot that another one needs', async () => {
  const { worker, queue, looks, gates } = watched({ work: 9 });
  worker.start();
  await queue.enqueue({ kind: 'work', payload: 1, key: 'a', owner: 'ada' });
  await queue.enqueue({ kind: 'work', payload: 2, key: 'b' });
  await turns();
  const before = looks.length;
  for (const end of gates) end();
  await turns();
  expect(looks).toHaveLength(before);
});

it('looks again when a job of a full kind ends, also if the last look found all jobs of other kinds', async () => {
  const { worker, enqueue, gates, ran } = watched({ work: 1, other: 1 });
  worker.start();
  await enqueue('a');
  await turns();
  await enqueue('b');
  await turns();
  gates[0]?.();
  await turns();
  expect(ran).toEqual(['a', 'b']);
});

it('looks again when a job ends after a look has failed before it found all jobs', async () => {
  const { worker, enqueue, gates, ran, incidents } = watched({ work: 50 }, (look) =>
    look === 2 ? Promise.reject(new Error('away')) : undefined,
  );
  await enqueue(...keysTo(20));
  worker.start();
  await turns();
  expect(ran).toHaveLength(16);
  expect(incidents).toEqual(['job:lease']);
  gates[0]?.();
  await turns();
  expect(ran).toHaveLength(20);
});

it('looks again for a job that is enqueued while a look fails', async () => {
  let fail = (): void => undefined;
  const { worker, enqueue, ran } = watched({ work: 1 }, (look) =>
    look === 1 ? new Promise((_, reject) => (fail = () => reject(new Error('away')))) : undefined,
  );
  worker.start();
  await turns();
  await enqueue('a');
  await turns();
  fail();
  await turns();
  expect(ran).toEqual(['a']);
});

it('does not poll while a look runs', async () => {
  let answer = (): void => undefined;
  const { worker, clock, looks } = watched({ work: 1 }, (look) =>
    look === 1 ? new Promise<void>((resolve) => (answer = resolve)) : undefined,
  );
  worker.start();
  await turns();
  await clock.advance(3000);
  await turns();
  answer();
  await turns();
  expect(looks).toHaveLength(1);
  await clock.advance(1000);
  await turns();
  expect(looks).toHaveLength(2);
});

it('listens once, however often it is started', async () => {
  const clock = createFakeClock();
  const queue = createMemoryQueue({ clock, ids: createFakeIds() });
  let listeners = 0;
  const onReady: JobQueue['onReady'] = (listener) => {
    listeners += 1;
    return queue.onReady(listener);
  };
  const { worker } = setUp(
    () => ({ ...queue, onReady }),
    async () => undefined,
  );
  expect(worker.running()).toBe(false);
  worker.start();
  worker.start();
  expect([listeners, worker.running()]).toEqual([1, true]);
});

it.each<[string, Options, number]>([
  ['its own limits', { concurrency: 7, maxPerOwner: 5 }, 5],
  ['a third of its slots for one owner', { concurrency: 7 }, 3],
])('runs jobs of a kind within %s', async (_title, options, most) => {
  const clock = createFakeClock();
  const queue = createMemoryQueue({ clock, ids: createFakeIds() });
  const ran: unknown[] = [];
  const worker = createWorker({
    queue,
    clock,
    settings: { leaseMs: 60_000, pollMs: 1000, concurrency: {}, maxPerOwner: {} },
    onError: () => undefined,
    handlers: [
      {
        kind: 'work',
        concurrency: 1,
        ...options,
        run: ({ payload }) => {
          ran.push(payload);
          return new Promise(() => undefined);
        },
      },
    ],
  });
  for (const key of keysTo(9)) await queue.enqueue({ kind: 'work', payload: key, key, owner: 'ada' });
  worker.start();
  await turns();
  expect(ran).toHaveLength(most);
  for (const key of keysTo(9)) await queue.enqueue({ kind: 'work', payload: key, key: `${key} of none` });
  await turns(30);
  expect(ran).toHaveLength(7);
});
