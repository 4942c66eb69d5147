import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import {
  COLLECTIONS,
  createApi,
  createServices,
  createUser,
  fromCredits,
  issueApiKey,
  type Ports,
  toFetchHandler,
} from '@questline/core';
import { MESSAGES } from '@questline/core/internal';
import { createMemoryMailer } from '@questline/core/memory';
import {
  createPostgresDatabase,
  createSqliteDatabase,
  createSqlPorts,
  migrate,
  type PostgresPool,
  type SqlDatabase,
} from '@questline/sql';
import { createFakeClock, createFakeIds } from '@questline/testing';
import pg from 'pg';
import { POSTGRES_URL } from '../../packages/sql/test/engines.ts';
import { answerParts } from '../support/chat.ts';
import { createStudio, drawAll } from '../support/media.ts';
import { createScriptedProvider } from '../support/model.ts';
import { NOW } from '../support/test-app.ts';

/** An app on one database alone that counts its statements, `begin` and `commit` included. */
export interface CountingApp {
  /** The id of an ended quest, and of its session. */
  readonly quest: string;
  readonly session: string;
  /** An access token of the user. */
  readonly token: string;
  /**
   * @param credential default: an API key of the user; null: none.
   * @param from the client address.
   */
  ask(
    method: string,
    path: string,
    body?: unknown,
    credential?: string | null,
    from?: string,
  ): Promise<Record<string, unknown>>;
  advance(ms: number): Promise<void>;
  /** More API keys of the user. */
  addKeys(count: number): Promise<readonly string[]>;
  /** The code of the last mail. */
  readCode(): string;
  /** Adds messages to a session of the user. */
  fillSession(sessionId: string, count: number): Promise<void>;
  /** Waits until no statement runs and no job is left. */
  idle(): Promise<void>;
  /** The statements since the last call. */
  take(): readonly string[];
  close(): Promise<void>;
}

/** A database that reports its statements. */
interface ObservedDatabase {
  readonly database: SqlDatabase;
  /** Whether no statement runs and no job is left. */
  isIdle(): Promise<boolean>;
  close(): Promise<void>;
}

export async function observePostgres(onStatement: (sql: string) => void): Promise<ObservedDatabase> {
  const schema = `questline_statements_${randomBytes(4).toString('hex')}`;
  const observer = new pg.Pool({ connectionString: POSTGRES_URL, max: 1 });
  await observer.query(`create schema ${schema}`);
  const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 5, connectionTimeoutMillis: 20_000 });
  /** Work that has a client, or waits for one. */
  let running = 0;
  const observed: PostgresPool = {
    async connect() {
      running += 1;
      const client = await pool.connect().catch((error: unknown) => {
        running -= 1;
        throw error;
      });
      return {
        query(config) {
          onStatement(config.text);
          return client.query(config as pg.QueryConfig);
        },
        release(destroy) {
          running -= 1;
          client.release(destroy);
        },
      };
    },
  };
  const database = createPostgresDatabase({ pool: observed, schema, timeoutMs: 20_000 });
  return {
    database,
    async isIdle() {
      const { rows } = await observer.query(`select count(*)::int as jobs from ${schema}.questline_jobs`);
      return running === 0 && rows[0]?.jobs === 0;
    },
    async close() {
      await database.close();
      await pool.end();
      await observer.query(`drop schema ${schema} cascade`);
      await observer.end();
    },
  };
}

export async function observeSqlite(onStatement: (sql: string) => void): Promise<ObservedDatabase> {
  const connection = new DatabaseSync(':memory:');
  const prepare = connection.prepare.bind(connection);
  const count = prepare.bind(undefined, 'select count(*) as jobs from questline_jobs');
  connection.prepare = (sql) => {
    const statement = prepare(sql);
    const all = statement.all.bind(statement);
    return Object.assign(statement, {
      all(...values: Parameters<typeof all>) {
        onStatement(sql);
        return all(...values);
      },
    });
  };
  const database = createSqliteDatabase({ database: connection });
  return {
    database,
    isIdle: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return count().get()?.jobs === 0;
    },
    async close() {
      await database.close();
      connection.close();
    },
  };
}

/** Ports in place of those of the database. */
export interface OtherPorts extends Partial<Pick<Ports, 'limiter' | 'queue' | 'publisher' | 'eventLog'>> {
  /** Whether none of them has work. Default: the jobs are in the database. */
  isIdle?(): Promise<boolean>;
  close(): Promise<void>;
}

export async function createCountingApp(
  observe: (onStatement: (sql: string) => void) => Promise<ObservedDatabase>,
  other?: OtherPorts,
): Promise<CountingApp> {
  let statements: string[] = [];
  const { database, isIdle, close } = await observe((sql) => statements.push(sql));
  await migrate(database, { collections: COLLECTIONS });
  const clock = createFakeClock(NOW);
  const ids = createFakeIds();
  const mailer = createMemoryMailer();
  const { isIdle: isOtherIdle, close: closeOther, ...otherPorts } = other ?? {};
  const { store, ledger, queue, limiter, eventLog } = createSqlPorts(database, {
    clock,
    ids,
    claimEveryMs: 0,
  });
  const services = createServices(
    {
      ...{ store, ledger, queue, limiter, eventLog, clock, ids, mailer },
      ...otherPorts,
      models: [
        createScriptedProvider((call) => {
          call.say(...answerParts('Hello.'));
          call.end();
        }),
        createStudio(drawAll),
      ],
    },
    {
      jwtSecret: 'a'.repeat(64),
      secretEncryptionKey: 'b'.repeat(64),
      admin: { DefaultAPIModel: 'scripted', enforceCredits: true },
      // The worker looks when it is notified, and not on its own beside that.
      worker: { pollMs: 300_000 },
    },
  );
  const user = await createUser(services, { email: 'ada@example.com', username: 'ada' });
  if (user === undefined) throw new Error('no user');
  await ledger.grant({
    ...{ account: `user:${user.id}`, amount: fromCredits(1000), key: 'start', reason: 'start' },
  });
  const addKey = async () => {
    const { key } = await issueApiKey(services, {
      userId: user.id,
      name: 'test',
      scopes: ['ai:chat', 'ai:generate', 'me:read', 'notebooks:read', 'notebooks:write'],
      requestsPerMinute: 10_000,
      requestsPerDay: 1_000_000,
    });
    return key;
  };
  const key = await addKey();
  const token = await services.tokens.sign({ id: user.id, tokenVersion: user.tokenVersion, typ: 'access' });
  const api = createApi(services, { worker: false });
  await api.start();
  const handle = toFetchHandler(api);
  const ask: CountingApp['ask'] = async (method, path, body, credential = key, from) => {
    const response = await handle(
      new Request(`http://questline.test${path}`, {
        method,
        headers: {
          ...(credential !== null && { Authorization: `Bearer ${credential}` }),
          'Content-Type': 'application/json',
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
      { remoteAddress: from },
    );
    const text = (await response?.text()) ?? '';
    if (response === undefined || response.status >= 300) throw new Error(`${response?.status} ${text}`);
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  };
  const idle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 5; ) {
      quiet = (await isIdle()) && (await isOtherIdle?.()) !== false ? quiet + 1 : 0;
    }
  };
  const { id, sessionId } = await ask('POST', '/api/chat', { message: 'Hi' });
  await idle();
  return {
    quest: String(id),
    session: String(sessionId),
    token,
    advance: (ms) => clock.advance(ms),
    addKeys: (count) => Promise.all(Array.from({ length: count }, addKey)),
    readCode: () => /\b\d{6}\b/.exec(mailer.sent.at(-1)?.text ?? '')?.[0] ?? '',
    ask,
    idle,
    async fillSession(intoId, count) {
      for (let at = 0; at < count; at += 1) {
        const message = { id: ids.next(), sessionId: intoId, ownerId: user.id, content: 'Hi', bytes: 300 };
        await store.collection(MESSAGES).insert({ ...message, role: 'user', createdAt: at });
      }
    },
    take() {
      const taken = statements;
      statements = [];
      return taken;
    },
    async close() {
      await api.close();
      await closeOther?.();
      await close();
    },
  };
}
