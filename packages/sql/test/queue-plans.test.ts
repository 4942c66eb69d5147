import { createFakeClock, createFakeIds } from '@questline/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqlQueue, migrate, type SqlDatabase } from '../src/index.ts';
import type { SqlStatement } from '../src/statement.ts';
import { type OpenEngine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from './engines.ts';

const JOBS = 100_000;
const KINDS = ['chat', 'agent-execution', 'files.scan', 'files.watch'];
const LEASE_MS = 60_000;
/** Maximum pages of 8 KiB that PostgreSQL may read for a claim. 100,000 jobs take about 2,000. */
const MAX_PAGES = 300;

const clock = createFakeClock();

/** Jobs that wait before one job of another owner. */
const CROWDS = [
  { name: 'wait for one owner that is at its limit', owner: "'hog'", runAt: clock.now() - 1000, ready: 1 },
  { name: 'wait for as many owners', owner: "'owner ' || g", runAt: clock.now() - 1000, ready: 1 },
  { name: 'are not due', owner: "'owner ' || g", runAt: clock.now() + 1e9, ready: 0 },
];

describe.each([SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])])(
  'claim on $name',
  (engine) => {
    let open: OpenEngine;
    beforeAll(async () => {
      open = await engine.open();
      await migrate(open.database, { collections: [] });
    }, 60_000);
    afterAll(() => open.close());

    it.each(CROWDS)(`reads a few jobs where ${JOBS} $name`, { timeout: 60_000 }, async (crowd) => {
      const { database } = open;
      const seen: SqlStatement[] = [];
      const spied: SqlDatabase = {
        ...database,
        run(statement, options) {
          seen.push(statement);
          return database.run(statement, options);
        },
      };
      await fill(database, crowd);
      const queue = createSqlQueue(spied, { clock, ids: createFakeIds() });
      await queue.enqueue({ kind: 'chat', key: 'other', owner: 'zoe', payload: null });
      seen.length = 0;
      const perOwner = { chat: { max: 17, held: new Map([['hog', 17]]) } };
      const jobs = await queue.lease({ kinds: KINDS, limit: 5, leaseMs: LEASE_MS, perOwner });
      expect(jobs.length).toBeGreaterThan(0);
      for (const statement of seen) await expectCheap(database, statement);
    });
  },
);

async function fill(database: SqlDatabase, { owner, runAt, ready }: (typeof CROWDS)[number]): Promise<void> {
  const table = database.names.table('jobs');
  const isSqlite = database.dialect === 'sqlite';
  const numbers = isSqlite
    ? `(with recursive n(g) as (select 1 union all select g + 1 from n where g < ${JOBS}) select g from n)`
    : `generate_series(1, ${JOBS}) g`;
  await database.run({ sql: `delete from ${table}`, parameters: [] });
  await database.run({
    sql: `insert into ${table} (id, key, kind, owner, payload, run_at, due_at, ready, attempt, fence)
          select 'id ' || g, 'key ' || g, 'chat', ${owner}, '{}', ${runAt}, ${runAt}, ${ready}, 0, 0 from ${numbers}`,
    parameters: [],
  });
  if (!isSqlite) await database.run({ sql: `vacuum analyze ${table}`, parameters: [] });
}

async function expectCheap(database: SqlDatabase, { sql, parameters }: SqlStatement): Promise<void> {
  const isSqlite = database.dialect === 'sqlite';
  const how = isSqlite ? 'explain query plan' : 'explain (analyze, buffers)';
  const rows = await database.run({ sql: `${how} ${sql}`, parameters });
  const plan = rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n');
  if (isSqlite) {
    expect(plan).not.toMatch(/SCAN (jobs|own|job|questline_jobs)\b/);
    return;
  }
  const pages = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan);
  expect(Number(pages?.[1] ?? 0) + Number(pages?.[2] ?? 0), plan).toBeLessThan(MAX_PAGES);
  // Compiling the plan takes longer than running it.
  expect(plan).not.toContain('JIT:');
}
