import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createBullQueue } from '../src/index.ts';

describe.skipIf(REDIS_URL === undefined)('jobs of owners on BullMQ', () => {
  const run = freshPrefix();
  const connection = new Redis(REDIS_URL ?? '', { maxRetriesPerRequest: null });
  connection.setMaxListeners(0);
  let made = 0;
  afterAll(async () => {
    await removeKeys(connection, run);
    await connection.quit();
  });

  const open = (prefix: string) => {
    const queue = createBullQueue({ connection, prefix, timeoutMs: 10_000 });
    return { queue, lease: () => queue.lease({ kinds: ['work'], limit: 9, leaseMs: 10_000 }) };
  };
  const start = () => {
    made += 1;
    const prefix = `${run}-${made}`;
    return { prefix, ...open(prefix) };
  };

  it('are all counted', async () => {
    const { queue } = start();
    for (const owner of [undefined, 'ada', 'grace', 'zoe']) {
      const named = owner === undefined ? {} : { owner };
      await queue.enqueue({ kind: 'work', key: `of ${owner}`, payload: null, ...named });
    }
    expect(await queue.counts()).toEqual({ ready: 4, delayed: 0, leased: 0 });
    await queue.close();
  });

  it('are leased if an older version has added them, which knew no owners', async () => {
    const { prefix, queue } = start();
    await queue.enqueue({ kind: 'work', key: 'old', payload: null });
    const lanes = await connection.keys(`${prefix}:*lanes*`);
    expect(lanes).toHaveLength(1);
    await connection.del(lanes);
    const { queue: next, lease } = open(prefix);
    expect((await lease()).map(({ key }) => key)).toEqual(['old']);
    await Promise.all([queue.close(), next.close()]);
  });
});
