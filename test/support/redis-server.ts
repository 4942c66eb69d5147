import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';

const configured = process.env.QUESTLINE_TEST_REDIS_URL;
const url = configured ?? 'redis://127.0.0.1:6379';

/** Undefined when no server is available: its tests are skipped with a message. */
export const REDIS_URL: string | undefined = await reach();

async function reach(): Promise<string | undefined> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.quit();
    return url;
  } catch (error) {
    if (configured !== undefined || process.env.CI === 'true') throw error;
    console.warn(
      'Redis does not answer on 127.0.0.1:6379: its tests do not run. Set QUESTLINE_TEST_REDIS_URL.',
    );
    return undefined;
  }
}

export function freshPrefix(): string {
  return `questline-test-${randomBytes(6).toString('hex')}`;
}

/** Removes the keys of a test under its prefix. */
export async function removeKeys(client: Redis, prefix: string): Promise<void> {
  for await (const keys of client.scanStream({ match: `${prefix}*`, count: 1000 })) {
    if (Array.isArray(keys) && keys.length > 0) await client.unlink(keys);
  }
}
