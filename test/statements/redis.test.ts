import { createBullQueue } from '@questline/bullmq';
import { createRedisPorts } from '@questline/redis';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { freshPrefix, REDIS_URL, removeKeys } from '../support/redis-server.ts';
import { type CountingApp, createCountingApp, type OtherPorts, observePostgres } from './counting.ts';

type Run = (app: CountingApp) => Promise<unknown>;

const completion = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }] };

/** The maximum number of statements and of Redis commands. Lower a number when an operation needs fewer. */
const OPERATIONS: readonly (readonly [
  name: string,
  redis: readonly [statements: number, commands: number],
  bullmq: readonly [statements: number, commands: number],
  run: Run,
])[] = [
  ['a completion', [2, 1], [2, 1], ({ ask }) => ask('POST', '/api/ai/v1/completions', completion)],
  [
    'a chat that opens a session, with its turn',
    [7, 4],
    [6, 12],
    ({ ask }) => ask('POST', '/api/chat', { message: 'Hi' }),
  ],
  ['a poll', [1, 1], [1, 1], ({ ask, quest }) => ask('GET', `/api/v1/quests/${quest}`)],
];
/** A process without work polls once a second. */
const IDLE_MS = 10_000;
const MAX_IDLE = 10;

/** A client that reports its commands, and those of its duplicates. */
function observeRedis(url: string, onCommand: (name: string) => void): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: null });
  const watch = (one: Redis): Redis => {
    const send = one.sendCommand.bind(one);
    const duplicate = one.duplicate.bind(one);
    return Object.assign(one, {
      sendCommand(...given: Parameters<typeof send>) {
        onCommand(given[0].name);
        return send(...given);
      },
      duplicate: (...given: Parameters<typeof duplicate>) => watch(duplicate(...given)),
    });
  };
  return watch(client);
}

const KINDS = [
  ['with the limiter, publisher and event log of Redis', 1, false],
  ['with the queue of BullMQ', 2, true],
] as const;

for (const [kind, at, isBull] of KINDS) {
  describe.skipIf(POSTGRES_URL === undefined || REDIS_URL === undefined)(
    `operations on PostgreSQL ${kind} need few round trips`,
    () => {
      const prefix = freshPrefix();
      const observer = new Redis(REDIS_URL ?? '');
      let commands: string[] = [];
      let app: CountingApp;

      const openPorts = (): OtherPorts => {
        const client = observeRedis(REDIS_URL ?? '', (name) => commands.push(name));
        const { limiter, publisher, eventLog } = createRedisPorts({ client, prefix, timeoutMs: 10_000 });
        const queue = isBull ? createBullQueue({ connection: client, prefix, timeoutMs: 10_000 }) : undefined;
        return {
          ...{ limiter, publisher, eventLog },
          ...(queue !== undefined && { queue }),
          // A finished job is deleted.
          isIdle: async () =>
            (await observer.keys(`${prefix}:questline.*:${'[0-9a-f]'.repeat(24)}`)).length === 0,
          async close() {
            await queue?.close();
            client.disconnect();
            await removeKeys(observer, prefix);
            observer.disconnect();
          },
        };
      };
      const takeCommands = (): readonly string[] => {
        const taken = commands;
        commands = [];
        return taken;
      };

      beforeAll(async () => {
        app = await createCountingApp(observePostgres, openPorts());
      }, 60_000);
      afterAll(() => app?.close());

      const rows = OPERATIONS.map((row) => [row[0], row[at][0], row[at][1], row[3]] as const);
      it.each(rows)('%s: at most %i statements and %i commands', async (_name, maxStatements, max, run) => {
        await run(app);
        await app.idle();
        app.take();
        takeCommands();
        await run(app);
        await app.idle();
        const statements = app.take();
        const sent = takeCommands();
        expect(statements.length, statements.join('\n')).toBeLessThanOrEqual(maxStatements);
        expect(sent.length, sent.join(' ')).toBeLessThanOrEqual(max);
        expect(statements.length + sent.length).toBeGreaterThan(0);
      });

      it('a process without work sends at most 1 command a second', async () => {
        await app.idle();
        takeCommands();
        for (let passed = 0; passed < IDLE_MS; passed += 500) {
          await app.advance(500);
          await app.idle();
        }
        const sent = takeCommands();
        expect(sent.length, sent.join(' ')).toBeLessThanOrEqual(MAX_IDLE);
      });
    },
  );
}
