import { isStorageUnavailable } from '@questline/core/ports';
import { createTcpProxy, expiringSuite, realTime } from '@questline/testing';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createRedisExpiringRecords, createRedisPorts, type RedisStateChange } from '../src/index.ts';

describe.skipIf(REDIS_URL === undefined)('short-lived records on Redis', () => {
  const url = REDIS_URL ?? '';
  const run = freshPrefix();
  const client = new Redis(url);
  const other = new Redis(url);
  let made = 0;
  afterAll(async () => {
    await removeKeys(client, run);
    await Promise.all([client.quit(), other.quit()]);
  });

  expiringSuite({
    name: 'Redis',
    create: async () => {
      made += 1;
      const options = { client, prefix: `${run}-${made}`, timeoutMs: 10_000 };
      return {
        records: createRedisExpiringRecords(options),
        peers: [createRedisExpiringRecords({ ...options, client: other })],
        time: realTime({ unit: 400 }),
      };
    },
  });

  it('rejects within half a second while Redis is unavailable and reports one change for all ports', async () => {
    const target = new URL(url);
    const proxy = await createTcpProxy({ host: target.hostname, port: Number(target.port) || 6379 });
    const behind = new Redis({ port: proxy.port, retryStrategy: () => 100 });
    behind.on('error', () => undefined);
    const changes: RedisStateChange[] = [];
    const { expiring, limiter, publisher } = createRedisPorts({
      client: behind,
      prefix: run,
      onStateChange: (change) => changes.push(change),
    });
    const windows = [{ name: 'minute', limit: 1, lengthMs: 60_000 }];
    try {
      expect(await expiring.create('token', 'value', 60_000)).toBe(true);
      proxy.freeze();
      const start = performance.now();
      const [taken] = await Promise.all([
        expiring.take('token').catch((error: unknown) => error),
        limiter.take('key', windows, Date.now()),
        publisher.publish('topic', 'message'),
      ]);
      expect(performance.now() - start).toBeLessThan(500);
      expect(isStorageUnavailable(taken)).toBe(true);
      await expect(expiring.get('token')).rejects.toSatisfy(isStorageUnavailable);
      expect(changes.map(({ state }) => state)).toEqual(['away']);
    } finally {
      behind.disconnect();
      await proxy.close();
    }
  });
});
