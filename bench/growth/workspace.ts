import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { COLLECTIONS, USERS } from '@questline/core';
import { createPostgresDatabase, createSqlPorts, migrate } from '@questline/sql';
import pg from 'pg';
import type { SqlStatement } from '../../packages/sql/src/statement.ts';
import { fillTables } from '../../test/statements/filling.ts';
import { explain } from '../../test/statements/plan.ts';
import { observe } from '../../test/statements/recording.ts';
import { answerParts } from '../../test/support/chat.ts';
import { createScriptedProvider } from '../../test/support/model.ts';
import { createTestApp, type TestApp } from '../../test/support/test-app.ts';
import type { Ask, Context, MeasuredOperation } from './operations.ts';

const MINUTE_MS = 60_000;
/** Tables that the operations do not read, and the queue, whose jobs the worker would run. */
const NOT_FILLED =
  /^(?:jobs|live_events|queued_jobs|budgets|mementos|artifact|generations|transcription|webhook|sign_in|device|token|tool_|mcp|conversation|responses|stored|execution|enrichment|upload|registration|event_outbox|grant_intents|low_credits|budget_notices|idempotency|provider_keys|external|analytics|agents|projects|data_lakes|data_lake_files|sharing_invites|artifacts|storage_usage|file_usage|ledgerCaps)/;

/** What the statements of one request read. */
export interface Reads {
  readonly pages: number;
  readonly rows: number;
}

/** A workspace in a schema of its own, with some records of one reader and many of others. */
export interface Workspace {
  /** Ends the windows of rate limits, and the caches of other operations. */
  prepare(): Promise<void>;
  /** Runs an operation once, with the work that it starts. @returns its milliseconds until the answer. */
  time(operation: MeasuredOperation): Promise<number>;
  /** What the last operation read. */
  explainLast(): Promise<Reads>;
  /** Drops the schema. */
  close(): Promise<void>;
}

/** @param records in each table that the operations read. */
export async function openWorkspace(url: string, records: number): Promise<Workspace> {
  const schema = `questline_growth_${randomBytes(4).toString('hex')}`;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create schema ${schema}`);
  const pool = new pg.Pool({ connectionString: url, max: 5, connectionTimeoutMillis: 20_000 });
  const inner = createPostgresDatabase({ pool, schema, timeoutMs: 20_000 });
  await migrate(inner, { collections: COLLECTIONS });
  let statements: SqlStatement[] = [];
  let running = 0;
  const database = observe(
    inner,
    (statement) => statements.push(statement),
    (change) => {
      running += change;
    },
  );
  const app = await createTestApp({
    ports: (given) => createSqlPorts(database, given),
    models: [
      createScriptedProvider((call) => {
        call.say(...answerParts('Hello.'));
        call.end();
      }),
    ],
    key: {
      scopes: [
        ...([
          'ai:chat',
          'ai:generate',
          'me:read',
          'notebooks:read',
          'notebooks:write',
          'files:read',
        ] as const),
        ...(['projects:read', 'agents:read', 'datalake:read'] as const),
      ],
      requestsPerMinute: 10_000,
      requestsPerDay: 1_000_000,
    },
    settings: { admin: { DefaultAPIModel: 'scripted', enforceCredits: true, EnableDataLakes: true } },
  });
  const idle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 5; ) {
      await turn();
      const { ready, leased } = await app.services.queue.counts();
      quiet = running === 0 && ready + leased === 0 ? quiet + 1 : 0;
    }
  };
  const context = await createOwnRecords(app);
  await idle();
  const { rows: names } = await client.query('select tablename from pg_tables where schemaname = $1', [
    schema,
  ]);
  const tables = names.map(({ tablename }) => `${schema}.${tablename}`);
  for (const table of tables) await client.query(`alter table ${table} set unlogged`);
  await fillTables(inner, 0, records, (table) => !NOT_FILLED.test(table));
  for (const table of tables) await client.query(`vacuum analyze ${table}`);

  return {
    prepare: () => app.clock.advance(MINUTE_MS),
    async time({ run }) {
      await idle();
      statements = [];
      const began = performance.now();
      await run(context);
      const took = performance.now() - began;
      await idle();
      return took;
    },
    async explainLast() {
      const last = statements.filter(
        ({ sql }) =>
          /^(select|with|insert|update|delete)/.test(sql.trim()) && !sql.startsWith('select ready.jobs'),
      );
      let [pages, rows] = [0, 0];
      for (const statement of last) {
        const plan = await explain(client, statement, 'custom');
        pages += plan.pages;
        rows += plan.rows ?? 0;
      }
      return { pages, rows };
    },
    async close() {
      await app.api.close();
      await pool.end();
      await client.query(`drop schema ${schema} cascade`);
      await client.end();
    },
  };
}

/** What the operations read. Another user writes, so that the reader has the same records after each of them. */
async function createOwnRecords(app: TestApp): Promise<Context> {
  const { services, user } = app;
  const admin = await app.addUser('root@example.com');
  await services.store.collection(USERS).update(admin.id, { isAdmin: true });
  const busy = await app.addUser('busy@example.com');
  await app.ledger.grant({ account: `user:${busy.id}`, amount: 1e9, key: 'start', reason: 'start' });
  const { key: writer } = await app.issue({
    ...{ userId: busy.id, scopes: ['ai:chat', 'ai:generate', 'notebooks:write'] },
    ...{ requestsPerMinute: 10_000, requestsPerDay: 1_000_000 },
  });
  const credentials = { writer, key: app.key, user: await app.token(), admin: await app.token(admin) };
  const ask: Ask = async (method, path, as, body) => {
    const response = await app.ask(method, path, {
      credential: credentials[as],
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  };
  await app.api.start();
  const chat = await ask('POST', '/api/chat', 'key', { message: 'Hi' });
  for (let count = 0; count < 20; count += 1)
    await ask('POST', '/api/v1/sessions', 'key', { name: `Mine ${count}` });
  await services.vectors.upsert([
    {
      ...{ id: 'own chunk', lakeId: 'own lake', fileId: 'own file', place: 0, text: 'Hedgehogs sleep.' },
      ...{ tags: [], words: ['hedgehogs', 'sleep'], vector: [1, 0, 0] },
    },
  ]);
  const things = { quest: String(chat.id), session: String(chat.sessionId), user: user.id };
  return { ask, things, services };
}
