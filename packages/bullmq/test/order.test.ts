import { createMemoryQueue } from '@questline/core/memory';
import type { JobQueue, LeasedJob } from '@questline/core/ports';
import { createFakeIds } from '@questline/testing';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { type BullQueue, createBullQueue } from '../src/index.ts';

const RUNS = 40;
const LEASE_MS = 60_000;

const step = fc.record({
  do: fc.constantFrom('enqueue', 'enqueue', 'lease', 'lease', 'renew', 'finish', 'retry', 'counts'),
  at: fc.nat({ max: 5 }),
});

describe.skipIf(REDIS_URL === undefined)('jobs of one kind on BullMQ', () => {
  const run = freshPrefix();
  let connection: Redis;
  let made = 0;
  let queue: BullQueue;
  beforeAll(() => {
    connection = new Redis(REDIS_URL ?? '', { maxRetriesPerRequest: null });
    connection.setMaxListeners(0);
  });
  beforeEach(() => {
    made += 1;
    queue = createBullQueue({ connection, prefix: `${run}-${made}`, timeoutMs: 10_000 });
  });
  afterEach(() => queue.close());
  afterAll(async () => {
    await removeKeys(connection, run);
    await connection.quit();
  });

  it('behaves like the reference for any sequence of calls where runAt is now', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        run += 1;
        let tick = 1;
        const clock = { now: () => tick, timer: () => () => undefined };
        const kind = `run ${run}`;
        const sides = [
          { queue, leased: [] as LeasedJob[], now: () => Date.now() },
          {
            queue: createMemoryQueue({ clock, ids: createFakeIds() }) as JobQueue,
            leased: [] as LeasedJob[],
            now: clock.now,
          },
        ];
        for (const { do: what, at } of steps) {
          tick += 1;
          const [tested, expected] = await Promise.all(
            sides.map(async (side) => {
              const job = side.leased.at(-1 - (at % 3));
              if (what === 'enqueue') {
                const new_ = { kind, key: `${run}:${at}`, payload: at, runAt: side.now() };
                return (await side.queue.enqueue(new_)).added;
              }
              if (what === 'lease') {
                const want = { kinds: [kind], limit: 1 + (at % 3), leaseMs: LEASE_MS };
                const jobs = await side.queue.lease(want);
                side.leased.push(...jobs);
                return jobs.map(({ key, payload, attempt, fence }) => ({ key, payload, attempt, fence }));
              }
              if (what === 'counts') return side.queue.counts();
              if (job === undefined) return undefined;
              if (what === 'renew') return side.queue.renew(job, LEASE_MS);
              if (what === 'finish') return side.queue.finish(job);
              return side.queue.retry(job, { runAt: side.now(), countAttempt: at % 2 === 0 });
            }),
          );
          expect(tested).toEqual(expected);
        }
        const left = await queue.lease({ kinds: [kind], limit: 100, leaseMs: LEASE_MS });
        for (const job of [...(sides[0]?.leased ?? []), ...left]) await queue.finish(job);
        expect(await queue.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
      }),
      { numRuns: RUNS },
    );
    console.log(`BullMQ: ${run} random sequences answered as the reference does`);
  });

  it('returns jobs in order of their due time, however they were enqueued', async () => {
    const now = Date.now();
    const enqueue = (key: string, runAt: number) => queue.enqueue({ kind: 'due', key, payload: key, runAt });
    await enqueue('third', now + 60);
    await enqueue('second', now + 30);
    await enqueue('first', now);
    await expect.poll(async () => (await queue.counts()).ready).toBe(3);
    const jobs = await queue.lease({ kinds: ['due'], limit: 3, leaseMs: LEASE_MS });
    expect(jobs.map(({ key }) => key)).toEqual(['first', 'second', 'third']);
    for (const job of jobs) await queue.finish(job);
  });

  it('alternates between kinds so that none waits for the others', async () => {
    for (let at = 0; at < 6; at += 1) {
      for (const kind of ['a', 'b', 'c:d']) {
        await queue.enqueue({ kind, key: `${kind} ${at}`, payload: at });
      }
    }
    const jobs = await queue.lease({ kinds: ['a', 'b', 'c:d'], limit: 6, leaseMs: LEASE_MS });
    expect(jobs.map(({ kind }) => kind).sort()).toEqual(['a', 'a', 'b', 'b', 'c:d', 'c:d']);
  });
});
