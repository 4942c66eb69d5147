import { eventLogSuite, realTime } from '@questline/testing';
import { Redis } from 'ioredis';
import { afterAll, describe } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createRedisEventLog } from '../src/index.ts';

describe.skipIf(REDIS_URL === undefined)('an event log on Redis', () => {
  const url = REDIS_URL ?? '';
  const run = freshPrefix();
  const client = new Redis(url);
  const other = new Redis(url);
  let made = 0;
  afterAll(async () => {
    await removeKeys(client, run);
    await Promise.all([client.quit(), other.quit()]);
  });

  eventLogSuite({
    name: 'Redis',
    create: async () => {
      made += 1;
      const options = { client, prefix: `${run}-${made}`, timeoutMs: 10_000 };
      return {
        eventLog: createRedisEventLog(options),
        peers: [createRedisEventLog({ ...options, client: other })],
        time: realTime({ unit: 1000 }),
      };
    },
  });
});
