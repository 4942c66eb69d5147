import type { JobQueue } from '@questline/core/ports';
import { Redis } from 'ioredis';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createBullQueue } from '../src/index.ts';

const LEASE_MS = 10_000;

describe.skipIf(REDIS_URL === undefined)('queues on one Redis', () => {
  const run = freshPrefix();
  let made = 0;
  const prefixed = (name: string) => `${run}-${made}-${name}`;
  beforeEach(() => {
    made += 1;
  });
  const connection = new Redis(REDIS_URL ?? '', { maxRetriesPerRequest: null });
  connection.setMaxListeners(0);
  afterAll(async () => {
    await removeKeys(connection, run);
    await connection.quit();
  });

  const add = (queue: JobQueue, owner: string) =>
    queue.enqueue({ kind: 'work', key: `of ${owner}`, owner, payload: owner });
  const lease = (queue: JobQueue) => queue.lease({ kinds: ['work'], limit: 9, leaseMs: LEASE_MS });

  it.each([
    ['prefixes', { prefix: 'a' }, { prefix: 'b' }],
    ['names', { prefix: 'a', name: 'first' }, { prefix: 'a', name: 'second' }],
  ])('have their own jobs with different %s', async (_, first, second) => {
    const [one, two] = [first, second].map((names) =>
      createBullQueue({ connection, timeoutMs: 10_000, ...names, prefix: prefixed(names.prefix) }),
    );
    if (one === undefined || two === undefined) throw new Error('no queues');
    await add(one, 'ada');
    expect(await two.counts()).toEqual({ ready: 0, delayed: 0, leased: 0 });
    expect(await lease(two)).toEqual([]);
    await add(two, 'grace');
    expect(await two.counts()).toEqual({ ready: 1, delayed: 0, leased: 0 });
    expect((await lease(two)).map(({ owner }) => owner)).toEqual(['grace']);
    expect((await lease(one)).map(({ owner }) => owner)).toEqual(['ada']);
    await Promise.all([one.close(), two.close()]);
  });

  it('leave no key without the prefix', async () => {
    const name = `${run}-${made}`;
    const queue = createBullQueue({ connection, prefix: prefixed('c'), name, timeoutMs: 10_000 });
    await add(queue, 'ada');
    await lease(queue);
    const keys = await connection.keys(`*${name}*`);
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter((key) => !key.startsWith(`${prefixed('c')}:`))).toEqual([]);
    await queue.close();
  });
});
