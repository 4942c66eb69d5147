import type { Publisher, RateLimiter } from '@questline/core/ports';
import { CliError } from '../cli-error.ts';
import type { Log } from '../log.ts';
import { getReason } from './reasons.ts';

/** State that several processes share through Redis. */
export interface SharedThroughRedis {
  readonly limiter: RateLimiter;
  readonly publisher: Publisher;
  /** Rejects while Redis is unreachable. */
  ping(): Promise<unknown>;
  close(): Promise<void>;
}

const CONNECT_MS = 5000;

/** @throws CliError when Redis is unreachable at the start. During a later outage, each process counts by itself. */
export async function openRedis(url: string, demo: boolean, log: Log): Promise<SharedThroughRedis> {
  const [{ Redis }, { createRedisPorts }] = await Promise.all([
    import('ioredis'),
    import('@questline/redis'),
  ]);
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    // Detects a dead connection within seconds, so that it reconnects soon after Redis is back.
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
    throw new CliError([`REDIS_URL: ${getReason(cause ?? error)}`]);
  }
  const { limiter, publisher } = createRedisPorts({
    client,
    prefix: demo ? 'questline-demo' : 'questline',
    onStateChange({ state, error }) {
      if (state === 'away') log.warn({ error }, 'Redis is unreachable; each process counts by itself');
      else log.info('Redis is reachable again');
    },
    onError: (error) => log.error({ error }, 'failed to handle a message from Redis'),
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
