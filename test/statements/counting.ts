import { randomBytes } from 'node:crypto';
import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  fromCredits,
  issueApiKey,
  toFetchHandler,
} from '@questline/core';
import { createPostgresDatabase, createSqlPorts, migrate } from '@questline/sql';
import { createFakeClock, createFakeIds } from '@questline/testing';
import pg from 'pg';
import { POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { answerParts } from '../support/chat.ts';
import { createScriptedProvider } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';

/** An app on PostgreSQL alone that counts its statements, `begin` and `commit` included. */
export interface CountingApp {
  /** The id of an ended quest, and of its session. */
  readonly quest: string;
  readonly session: string;
  ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Waits until no statement runs and no job is left. */
  idle(): Promise<void>;
  /** The statements since the last call. */
  take(): readonly string[];
  close(): Promise<void>;
}

export async function createCountingApp(): Promise<CountingApp> {
  const schema = `questline_statements_${randomBytes(4).toString('hex')}`;
  const observer = new pg.Pool({ connectionString: POSTGRES_URL, max: 1 });
  await observer.query(`create schema ${schema}`);
  const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 5, connectionTimeoutMillis: 20_000 });
  let statements: string[] = [];
  let running = 0;
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(client, {
      async query(config: { text: string } | string, ...more: unknown[]) {
        statements.push(typeof config === 'string' ? config : config.text);
        running += 1;
        try {
          return await query(config, ...more);
        } finally {
          running -= 1;
        }
      },
    });
  });
  const database = createPostgresDatabase({ pool, schema, timeoutMs: 20_000 });
  await migrate(database, { collections: COLLECTIONS });
  const clock = createFakeClock(NOW);
  const ids = createFakeIds();
  const { store, ledger, queue, limiter, eventLog } = createSqlPorts(database, { clock, ids });
  const services = createServices(
    {
      ...{ store, ledger, queue, limiter, eventLog, clock, ids },
      models: [
        createScriptedProvider((call) => {
          call.say(...answerParts('Hello.'));
          call.end();
        }),
      ],
    },
    {
      jwtSecret: 'a'.repeat(64),
      secretEncryptionKey: 'b'.repeat(64),
      admin: { DefaultAPIModel: 'scripted', enforceCredits: true },
    },
  );
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  await ledger.grant({
    ...{ account: `user:${user.id}`, amount: fromCredits(1000), key: 'start', reason: 'start' },
  });
  const { key } = await issueApiKey(services, {
    userId: user.id,
    name: 'test',
    scopes: ['ai:chat', 'ai:generate', 'me:read', 'notebooks:read', 'notebooks:write'],
    requestsPerMinute: 10_000,
    requestsPerDay: 1_000_000,
  });
  const api = createApi(services, { worker: false });
  await api.start();
  const handle = toFetchHandler(api);
  const ask: CountingApp['ask'] = async (method, path, body) => {
    const response = await handle(
      new Request(`http://questline.test${path}`, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    const text = (await response?.text()) ?? '';
    if (response === undefined || response.status >= 300) throw new Error(`${response?.status} ${text}`);
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  };
  const idle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 5; ) {
      const { rows } = await observer.query(`select count(*)::int as jobs from ${schema}.questline_jobs`);
      quiet = running === 0 && rows[0]?.jobs === 0 ? quiet + 1 : 0;
    }
  };
  const { id, sessionId } = await ask('POST', '/api/chat', { message: 'Hi' });
  await idle();
  return {
    quest: String(id),
    session: String(sessionId),
    ask,
    idle,
    take() {
      const taken = statements;
      statements = [];
      return taken;
    },
    async close() {
      await api.close();
      await database.close();
      await pool.end();
      await observer.query(`drop schema ${schema} cascade`);
      await observer.end();
    },
  };
}
