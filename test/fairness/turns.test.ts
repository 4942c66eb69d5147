import { createBullQueue } from '@questline/bullmq';
import { createApi, createServices, createUser, issueApiKey, toFetchHandler } from '@questline/core';
import { createStoreQueue } from '@questline/core/internal';
import {
  createIds,
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryMailer,
  createMemoryQueue,
  createMemoryStore,
  createSystemClock,
} from '@questline/core/memory';
import type { JobQueue } from '@questline/core/ports';
import { createSqlQueue, migrate } from '@questline/sql';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { ENGINES, POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { createScriptedProvider } from '../support/model.ts';
import { freshPrefix, REDIS_URL, removeKeys } from '../support/redis-server.ts';

const SLOW_TURNS = 160;
const OTHERS = 10;

interface OpenQueue {
  readonly queue: JobQueue;
  close(): Promise<void>;
}

const clock = createSystemClock();
const ids = createIds();
const open = async (queue: JobQueue): Promise<OpenQueue> => ({ queue, close: async () => undefined });

const QUEUES: readonly { readonly name: string; readonly create: () => Promise<OpenQueue> }[] = [
  { name: 'the memory queue', create: () => open(createMemoryQueue({ clock, ids })) },
  {
    name: 'the store queue',
    create: () => open(createStoreQueue({ store: createMemoryStore(), clock, ids })),
  },
  // With a PostgreSQL server, test its queue; PGlite shares the processor time of this process.
  ...ENGINES.filter(({ name }) => name !== 'PGlite' || POSTGRES_URL === undefined).map((engine) => ({
    name: engine.name,
    async create() {
      const { database, close } = await engine.open();
      await migrate(database, { collections: [] });
      return { queue: createSqlQueue(database, { clock, ids }), close };
    },
  })),
  ...(REDIS_URL === undefined
    ? []
    : [
        {
          name: 'BullMQ',
          async create() {
            const prefix = freshPrefix();
            const connection = new Redis(REDIS_URL ?? '', { maxRetriesPerRequest: null });
            const queue = createBullQueue({ connection, prefix, timeoutMs: 10_000 });
            return {
              queue,
              async close() {
                await queue.close();
                await removeKeys(connection, prefix);
                await connection.quit();
              },
            };
          },
        },
      ]),
];

describe.each(QUEUES)('fair turns on $name', ({ name, create }) => {
  it(`starts turns of ${OTHERS} users while some of ${SLOW_TURNS} slow turns of another user still wait`, {
    timeout: 120_000,
  }, async () => {
    const { queue, close } = await create();
    // A model that starts and never ends.
    const model = createScriptedProvider();
    const services = createServices(
      {
        store: createMemoryStore(),
        ledger: createMemoryLedger({ clock }),
        limiter: createMemoryLimiter(),
        mailer: createMemoryMailer(),
        models: [model],
        queue,
        clock,
        ids,
      },
      { jwtSecret: 'a'.repeat(64), admin: { DefaultAPIModel: 'scripted' } },
    );
    const api = createApi(services);
    const handle = toFetchHandler(api);
    const addPerson = async (username: string) => {
      const user = await createUser(services, { email: `${username}@example.com`, username });
      if (user === undefined) throw new Error('no user');
      await services.ledger.grant({
        account: `user:${user.id}`,
        amount: 1_000_000_000_000,
        key: username,
        reason: 'start',
      });
      const { key } = await issueApiKey(services, {
        userId: user.id,
        name: 'test',
        scopes: ['ai:chat'],
        requestsPerMinute: 10_000,
        requestsPerDay: 10_000,
      });
      return async (message: string) => {
        const request = new Request('http://questline.test/api/chat', {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json' },
          body: JSON.stringify({ message }),
        });
        expect((await handle(request))?.status).toBe(200);
      };
    };
    const countTurns = (message: string): number =>
      model.calls.filter(({ request }) => JSON.stringify(request.messages).includes(message)).length;

    const mallory = await addPerson('mallory');
    const others = [];
    for (let at = 0; at < OTHERS; at += 1) others.push(await addPerson(`other${at}`));
    await api.start();
    for (let at = 0; at < SLOW_TURNS; at += 1) await mallory('slow turn');
    await expect.poll(() => countTurns('slow turn'), { timeout: 30_000 }).toBeGreaterThan(0);

    const began = performance.now();
    for (const other of others) await other('short question');
    await expect.poll(() => countTurns('short question'), { timeout: 30_000, interval: 5 }).toBe(OTHERS);
    const waited = performance.now() - began;
    expect(countTurns('slow turn')).toBeLessThan(SLOW_TURNS);
    console.log(`${name}: the last of ${OTHERS} started after ${Math.round(waited)} ms`);
    await api.drain(0);
    await api.close();
    await close();
  });
});
