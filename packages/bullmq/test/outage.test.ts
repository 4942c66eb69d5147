import { isStorageUnavailable, type LeasedJob } from '@questline/core/ports';
import { createTcpProxy, type TcpProxy } from '@questline/testing';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { type BullQueue, createBullQueue } from '../src/index.ts';

const TIMEOUT_MS = 300;
const JOB = { kind: 'quest', payload: null };
const WANT = { kinds: ['quest'], limit: 1, leaseMs: 60_000 };

describe.skipIf(REDIS_URL === undefined)('BullMQ while Redis is unavailable', () => {
  let prefix: string;
  let proxy: TcpProxy;
  let behind: Redis;
  let beside: Redis;
  let queue: BullQueue;
  beforeEach(async () => {
    const target = new URL(REDIS_URL ?? '');
    prefix = freshPrefix();
    proxy = await createTcpProxy({ host: target.hostname, port: Number(target.port) || 6379 });
    behind = new Redis({ port: proxy.port, maxRetriesPerRequest: null, retryStrategy: () => 100 });
    behind.on('error', () => undefined);
    beside = new Redis(REDIS_URL ?? '');
    queue = createBullQueue({ connection: behind, prefix, timeoutMs: TIMEOUT_MS });
    await queue.counts();
  });
  afterEach(async () => {
    await queue.close();
    behind.disconnect();
    await proxy.close();
    await removeKeys(beside, prefix);
    beside.disconnect();
  });

  it.each(['refused', 'frozen'] as const)(
    'rejects every call in time when Redis is %s, and recovers afterwards',
    async (fault) => {
      await queue.enqueue({ ...JOB, key: 'held' });
      const [held] = await queue.lease(WANT);
      if (held === undefined) throw new Error('expected a job');

      await (fault === 'refused' ? proxy.refuse() : proxy.freeze());
      const start = performance.now();
      for (let round = 0; round < 2; round += 1) {
        const answers = await Promise.allSettled([
          queue.enqueue({ ...JOB, key: 'new' }),
          queue.lease(WANT),
          queue.renew(held, 60_000),
          queue.finish(held),
          queue.retry(held, { runAt: Date.now(), countAttempt: true }),
          queue.counts(),
        ]);
        for (const answer of answers) {
          expect(answer.status).toBe('rejected');
          expect(isStorageUnavailable((answer as PromiseRejectedResult).reason)).toBe(true);
        }
      }
      expect(performance.now() - start).toBeLessThan(2 * TIMEOUT_MS + 200);

      if (fault === 'refused') await proxy.accept();
      else proxy.unfreeze('revive');
      await expect
        .poll(
          () =>
            queue.counts().then(
              () => true,
              () => false,
            ),
          { timeout: 5000 },
        )
        .toBe(true);
      await queue.enqueue({ ...JOB, key: 'afterwards' });
      const handed = [];
      for (let round = 0; round < 5; round += 1) handed.push(...(await queue.lease({ ...WANT, limit: 5 })));
      expect(handed.map(({ key }) => key)).toContain('afterwards');
      expect(new Set(handed.map(({ key }) => key)).size).toBe(handed.length);
    },
  );

  it('returns a job to the queue, uncounted, when the claim that took it has timed out', async () => {
    await queue.enqueue({ ...JOB, key: 'one' });
    proxy.freeze();
    await expect(queue.lease(WANT)).rejects.toSatisfy(isStorageUnavailable);
    proxy.unfreeze('revive');
    const jobs: LeasedJob[] = [];
    await expect
      .poll(
        async () => {
          jobs.push(...(await queue.lease(WANT).catch(() => [])));
          return jobs.length;
        },
        { timeout: 5000 },
      )
      .toBe(1);
    expect(jobs[0]).toMatchObject({ key: 'one', attempt: 1 });
  });

  it('opens no connection beside that of the host and keeps its listeners', async () => {
    const own = new Redis(REDIS_URL ?? '', { connectionName: prefix });
    await own.ping();
    const listeners = () => own.eventNames().map((name) => [name, own.listenerCount(name)]);
    const before = listeners();
    const used = createBullQueue({ connection: own, prefix });
    await used.enqueue({ ...JOB, key: 'one' });
    for (const job of await used.lease(WANT)) await used.finish(job);
    const list = String(await beside.client('LIST'));
    expect(list.split('\n').filter((line) => line.includes(` name=${prefix} `))).toHaveLength(1);
    await used.close();
    expect(listeners()).toEqual(before);
    expect(own.status).toBe('ready');
    await own.quit();
  });
});
