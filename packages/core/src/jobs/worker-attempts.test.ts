import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { LEASE_MS, setUp, turns } from '../../test/worker.ts';
import { createMemoryQueue } from '../memory/queue.ts';
import type { Observer } from '../observability/observer.ts';
import { StorageUnavailable } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import type { JobEnd } from './handler.ts';
import { createWorker } from './worker.ts';

const createQueue: Parameters<typeof setUp>[0] = (clock) =>
  createMemoryQueue({ clock, ids: createFakeIds() });

it('drops a job that has failed 20 times, but not while the storage is away', async () => {
  const attempts: number[] = [];
  let isAway = true;
  const { clock, queue, worker } = setUp(createQueue, async ({ attempt }) => {
    attempts.push(attempt);
    if (attempt < 20 || !isAway) throw new Error('no');
    isAway = false;
    throw new StorageUnavailable('away');
  });
  worker.start();
  await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
  await turns();
  for (let retry = 0; retry < 30; retry += 1) {
    await clock.advance(300_000);
    await turns();
  }
  expect(attempts).toEqual([...Array.from({ length: 20 }, (_, at) => at + 1), 20]);
  expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
});

it('renews no lease of a job that has ended', async () => {
  const { clock, queue, worker } = setUp(createQueue, async () => undefined);
  let renewals = 0;
  queue.renew = async () => {
    renewals += 1;
    return true;
  };
  worker.start();
  await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
  await turns();
  await clock.advance(LEASE_MS);
  expect(renewals).toBe(0);
});

it('reports a job that fails because its lease is lost', async () => {
  const { clock, queue, worker, incidents } = setUp(
    createQueue,
    (_job, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  queue.renew = async () => false;
  worker.start();
  await queue.enqueue({ kind: 'work', payload: 1, key: 'a' });
  await turns();
  await clock.advance(LEASE_MS / 3);
  await turns();
  expect(incidents).toEqual(['job:work']);
});

/** A worker with one job that ends in a given way. */
async function runOne(end: JobEnd | Error, options: { observer?: Observer; isQueueAway?: boolean } = {}) {
  const clock = createFakeClock();
  const queue = createMemoryQueue({ clock, ids: createFakeIds() });
  const calls: string[] = [];
  const incidents: Incident[] = [];
  const away = new Error('away');
  const watch = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    calls.push(name);
    if (options.isQueueAway === true) throw away;
    return work();
  };
  const worker = createWorker({
    queue: {
      ...queue,
      finish: (job) => watch('finish', () => queue.finish(job)),
      retry: (job, back) =>
        watch(`retry in ${back.runAt - clock.now()}, ${back.countAttempt}`, () => queue.retry(job, back)),
    },
    clock,
    settings: { leaseMs: LEASE_MS, pollMs: 1000, concurrency: {}, maxPerOwner: {} },
    observer: options.observer,
    onError: (incident) => incidents.push(incident),
    handlers: [
      {
        kind: 'work',
        concurrency: 1,
        async run() {
          if (end instanceof Error) throw end;
          return end;
        },
      },
    ],
  });
  await queue.enqueue({ kind: 'work', payload: { $carried: { traceparent: 't' } }, key: 'a' });
  worker.start();
  await turns();
  return { calls, incidents, away };
}

const AGAIN = { afterMs: 5000, countAttempt: true };

it.each<[string, JobEnd | Error, string[]]>([
  ['completes a job that has ended', undefined, ['finish']],
  ['leaves a job that has completed itself', 'finished', []],
  ['runs a job again when it asks for that', AGAIN, ['retry in 5000, true']],
  ['runs a failed job again after a second', new Error('no'), ['retry in 1000, true']],
])('%s, with and without an observer', async (_title, end, expected) => {
  expect((await runOne(end)).calls).toEqual(expected);
  const seen: unknown[] = [];
  const job: NonNullable<Observer['job']> = async (about, work) => {
    seen.push(about);
    const result = await work();
    seen.push(result);
    return result;
  };
  expect((await runOne(end, { observer: { job } })).calls).toEqual(expected);
  const about = { kind: 'work', attempt: 1, carried: {} };
  const result = end === AGAIN ? AGAIN : undefined;
  expect(seen).toEqual(end instanceof Error ? [about] : [about, result]);
});

it.each<[string, JobEnd]>([
  ['complete', undefined],
  ['return', AGAIN],
])('reports a queue that does not %s a job', async (_title, end) => {
  const { calls, incidents, away } = await runOne(end, { isQueueAway: true });
  expect(calls).toHaveLength(1);
  expect(incidents).toEqual([{ operation: 'job:work', requestId: '', error: away }]);
});
