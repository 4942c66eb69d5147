import type { Publisher, RateLimiter } from '@questline/core';
import type { Log } from '../log.ts';
import { Mistake } from '../mistake.ts';
import { reasonOf } from './reasons.ts';

/** What several processes share through Redis. */
export interface SharedThroughRedis {
  readonly limiter: RateLimiter;
  readonly publisher: Publisher;
  /** Rejects, sooner or later, while Redis is away. */
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

const CONNECT_MS = 5000;

/** @throws Mistake when Redis cannot be reached at the start. Later, each process counts by itself while it is away. */
export async function openRedis(url: string, demo: boolean, log: Log): Promise<SharedThroughRedis> {
  const [{ Redis }, { createRedisPorts }] = await Promise.all([
    import('ioredis'),
    import('@questline/redis'),
  ]);
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    // Back within seconds of Redis's return, also over a connection that has died without telling.
    retryStrategy: (times) => Math.min(times * 100, 1000),
    socketTimeout: 2000,
  });
  let cause: unknown;
  client.on('error', (error) => {
    cause = error;
  });
  try {
    await client.connect();
    await client.ping();
  } catch (error) {
    client.disconnect();
    throw new Mistake([`REDIS_URL: ${reasonOf(cause ?? error)}`]);
  }
  const { limiter, publisher } = createRedisPorts({
    client,
    prefix: demo ? 'questline-demo' : 'questline',
    onStateChange({ state, error }) {
      if (state === 'away') log.warn({ error }, 'Redis is away; each process counts by itself');
      else log.info('Redis is back');
    },
    onError: (error) => log.error({ error }, 'a message from Redis was not taken'),
  });
  return {
    limiter,
    publisher,
    ping: () => client.ping(),
    async close() {
      await client.quit().catch(() => client.disconnect());
    },
  };
}
