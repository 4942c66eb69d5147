/**
 * The cost of operations on PostgreSQL among 1,000 and among 1,000,000 records of others: `npm run bench:growth`, or with
 * another number. Reports the median time, the pages and the rows that the statements of one request read, and their ratios.
 * Exits with 1 if an operation reads more than 1.5 times the rows, or more than twice the pages: an index of a million
 * entries is two pages deeper.
 */
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
import { createTestApp } from '../../test/support/test-app.ts';
import { median } from '../support/report.ts';
import { type Ask, OPERATIONS } from './operations.ts';

const URL = process.env.QUESTLINE_TEST_POSTGRES_URL ?? 'postgres://root@127.0.0.1:5432/test';
const FEW = 1000;
const MANY = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 15;
const MINUTE_MS = 60_000;
const MAX_ROWS = 1.5;
const MAX_PAGES = 2;
/** Pages and rows of an operation that reads almost nothing: each word of a search is some pages deep. */
const ALLOWANCE = 20;
/** Tables that the operations do not read, and the queue, whose jobs the worker would run. */
const NOT_FILLED =
  /^(?:jobs|live_events|queued_jobs|budgets|mementos|artifact|generations|transcription|webhook|sign_in|device|token|tool_|mcp|conversation|responses|stored|execution|enrichment|upload|registration|event_outbox|grant_intents|low_credits|budget_notices|idempotency|provider_keys|external|analytics|agents|projects|data_lakes|data_lake_files|sharing_invites|artifacts|storage_usage|file_usage|ledgerCaps)/;

interface Cost {
  readonly ms: number;
  readonly pages: number;
  readonly rows: number;
  readonly statements: number;
}

const schema = `questline_growth_${randomBytes(4).toString('hex')}`;
const client = new pg.Client({ connectionString: URL });
await client.connect();
await client.query(`create schema ${schema}`);
const pool = new pg.Pool({ connectionString: URL, max: 5, connectionTimeoutMillis: 20_000 });
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
      ...(['ai:chat', 'ai:generate', 'me:read', 'notebooks:read', 'notebooks:write', 'files:read'] as const),
      ...(['projects:read', 'agents:read', 'datalake:read'] as const),
    ],
    requestsPerMinute: 10_000,
    requestsPerDay: 1_000_000,
  },
  settings: { admin: { DefaultAPIModel: 'scripted', enforceCredits: true, EnableDataLakes: true } },
});
const admin = await app.addUser('root@example.com');
await app.services.store.collection(USERS).update(admin.id, { isAdmin: true });
// Another user writes, so that the reader has the same records at both sizes.
const busy = await app.addUser('busy@example.com');
await app.ledger.grant({ account: `user:${busy.id}`, amount: 1e9, key: 'start', reason: 'start' });
const { key: writer } = await app.issue({
  ...{ userId: busy.id, scopes: ['ai:chat', 'ai:generate', 'notebooks:write'] },
  ...{ requestsPerMinute: 10_000, requestsPerDay: 1_000_000 },
});
const tokens = { writer, key: app.key, user: await app.token(), admin: await app.token(admin) };
await app.api.start();
const idle = async (): Promise<void> => {
  for (let quiet = 0; quiet < 5; ) {
    await turn();
    const { ready, leased } = await app.services.queue.counts();
    quiet = running === 0 && ready + leased === 0 ? quiet + 1 : 0;
  }
};

const ask: Ask = async (method: string, path: string, as, body) => {
  const response = await app.ask(method, path, {
    credential: tokens[as],
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
};
const chat = await ask('POST', '/api/chat', 'key', { message: 'Hi' });
for (let count = 0; count < 20; count += 1)
  await ask('POST', '/api/v1/sessions', 'key', { name: `Mine ${count}` });
await app.services.vectors.upsert([
  {
    ...{
      id: 'own chunk',
      lakeId: 'own lake',
      fileId: 'own file',
      place: 0,
      text: 'Hedgehogs sleep.',
      tags: [],
    },
    ...{ words: ['hedgehogs', 'sleep'], vector: [1, 0, 0] },
  },
]);
await idle();
const things = { quest: String(chat.id), session: String(chat.sessionId), user: app.user.id };

async function measure(): Promise<Map<string, Cost>> {
  const costs = new Map<string, Cost>();
  for (const { name, run } of OPERATIONS) {
    const times: number[] = [];
    // Ends the windows of rate limits and the caches of the operation before.
    await app.clock.advance(MINUTE_MS);
    for (let round = 0; round < ROUNDS + 3; round += 1) {
      await idle();
      statements = [];
      const began = performance.now();
      await run({ ask, things, services: app.services });
      if (round >= 3) times.push(performance.now() - began);
      await idle();
    }
    const last = statements.filter(({ sql }) => /^(select|with|insert|update|delete)/.test(sql.trim()));
    let [pages, rows] = [0, 0];
    for (const statement of last.filter(({ sql }) => !sql.startsWith('select ready.jobs'))) {
      const plan = await explain(client, statement, 'custom');
      pages += plan.pages;
      rows += plan.rows ?? 0;
    }
    costs.set(name, { ms: median(times), pages, rows, statements: last.length });
  }
  return costs;
}

async function fill(from: number, to: number): Promise<void> {
  await fillTables(inner, from, to, (table) => !NOT_FILLED.test(table));
  for (const table of tables) await client.query(`vacuum analyze ${table}`);
}

const { rows: names } = await client.query('select tablename from pg_tables where schemaname = $1', [schema]);
const tables = names.map(({ tablename }) => `${schema}.${tablename}`);
try {
  for (const table of tables) await client.query(`alter table ${table} set unlogged`);
  await fill(0, FEW);
  const few = await measure();
  const began = performance.now();
  await fill(FEW, MANY);
  console.log(`filled ${MANY} records in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  const many = await measure();
  console.log(
    `${'operation'.padEnd(34)} ${'ms'.padStart(16)} ${'ratio'.padStart(6)} ${'pages'.padStart(14)} ${'rows'.padStart(14)}`,
  );
  for (const [name, before] of few) {
    const after = many.get(name) as Cost;
    const isGrown =
      after.rows > before.rows * MAX_ROWS + ALLOWANCE || after.pages > before.pages * MAX_PAGES + ALLOWANCE;
    if (isGrown) process.exitCode = 1;
    console.log(
      [
        name.padEnd(34),
        `${before.ms.toFixed(1)} -> ${after.ms.toFixed(1)}`.padStart(16),
        (after.ms / before.ms).toFixed(2).padStart(6),
        `${before.pages} -> ${after.pages}`.padStart(14),
        `${before.rows} -> ${after.rows}`.padStart(14),
        isGrown ? 'MISSED' : '',
      ].join(' '),
    );
  }
} finally {
  await app.api.close();
  await pool.end();
  await client.query(`drop schema ${schema} cascade`);
  await client.end();
}
