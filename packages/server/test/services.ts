import { Redis } from 'ioredis';
import pg from 'pg';

export const POSTGRES_URL = process.env.QUESTLINE_TEST_POSTGRES_URL ?? 'postgres://root@127.0.0.1:5432/test';
export const REDIS_URL = process.env.QUESTLINE_TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';

/**
 * Whether both services answer. If they are required, a missing one is a failure; otherwise it is reported.
 * @param what the tests that are skipped.
 */
export async function reachServices(what: string): Promise<boolean> {
  try {
    const client = new pg.Client({ connectionString: POSTGRES_URL, connectionTimeoutMillis: 2000 });
    await client.connect();
    await client.end();
    const redis = new Redis(REDIS_URL, { lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => undefined);
    await redis.connect();
    await redis.quit();
    return true;
  } catch (error) {
    if (process.env.CI === 'true') throw error;
    console.warn(`PostgreSQL or Redis does not answer: ${what} is not tested.`);
    return false;
  }
}
