import { queueSuite, realTime } from '@questline/testing';
import { Redis } from 'ioredis';
import { afterAll, describe } from 'vitest';
import { freshPrefix, REDIS_URL, removeKeys } from '../../../test/support/redis-server.ts';
import { createBullQueue } from '../src/index.ts';

describe.skipIf(REDIS_URL === undefined)('queue on BullMQ', () => {
  const url = REDIS_URL ?? '';
  const run = freshPrefix();
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const other = new Redis(url, { maxRetriesPerRequest: null });
  connection.setMaxListeners(0);
  other.setMaxListeners(0);
  let made = 0;
  afterAll(async () => {
    await removeKeys(connection, run);
    await Promise.all([connection.quit(), other.quit()]);
  });

  queueSuite({
    name: 'BullMQ',
    skip: {
      'behaves like the reference for any sequence of calls':
        'BullMQ keeps a queue per kind, in the order in which jobs became due: it cannot compare jobs of two kinds, nor put one with an earlier runAt before those already in line. What it does keep is compared in order.test.ts',
    },
    create: async () => {
      made += 1;
      const options = { prefix: `${run}-${made}`, timeoutMs: 10_000 };
      const queue = createBullQueue({ ...options, connection });
      const peer = createBullQueue({ ...options, connection: other });
      return {
        queue,
        peers: [peer],
        time: realTime({ unit: 400 }),
        async close() {
          await queue.close();
          await peer.close();
        },
      };
    },
  });
});
