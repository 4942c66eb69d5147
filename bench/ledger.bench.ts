/**
 * P8: compares a hold and its settlement on PostgreSQL with a bare transaction of two statements over the
 * same driver. Pairs alternate, and the median of their ratios is reported: once with an account per caller,
 * once with one account for all. The goal of half the rate means twice the CPU of this process. The rates are
 * reported too, but they depend on the disk: a hold and its settlement are two commits, the bare transaction
 * is one.
 */
import { createIds, createSystemClock } from '@questline/core/memory';
import { createPostgresDatabase, createSqliteDatabase, createSqlLedger, migrate } from '@questline/sql';
import pg from 'pg';
import { median, reportRatio } from './support/report.ts';

const URL = process.env.QUESTLINE_TEST_POSTGRES_URL ?? 'postgres://root@127.0.0.1:5432/test';
const PAIRS = Number(process.env.BENCH_PAIRS ?? 5);
const CALLS = 2000;
const CALLERS = Number(process.env.BENCH_CALLERS ?? 10);

const clock = createSystemClock();
const ids = createIds({ clock });
const schema = `questline_bench_${process.pid}`;
const pool = new pg.Pool({ connectionString: URL, max: CALLERS, connectionTimeoutMillis: 4000 });
await pool.query(`create schema ${schema}`);
await pool.query(`create table ${schema}.bare_accounts (account text primary key, held bigint not null)`);
await pool.query(
  `create table ${schema}.bare_entries (id text primary key, account text not null, amount bigint not null)`,
);
const database = createPostgresDatabase({ pool, schema });
await migrate(database, { collections: [] });
const ledger = createSqlLedger(database, { clock, ids });

const getAccount = (caller: number, isShared: boolean) => `user:${isShared ? 'all' : caller}`;

async function bare(account: string): Promise<void> {
  const client = await pool.connect();
  await client.query('begin');
  await client.query({
    name: 'bare-update',
    text: `update ${schema}.bare_accounts set held = held + $2 where account = $1`,
    values: [account, 1],
  });
  await client.query({
    name: 'bare-insert',
    text: `insert into ${schema}.bare_entries (id, account, amount) values ($1, $2, $3)`,
    values: [ids.next(), account, 1],
  });
  await client.query('commit');
  client.release();
}

async function holdAndSettle(on: typeof ledger, account: string): Promise<void> {
  const details = { operation: 'createCompletion', model: 'demo', keyId: 'key', userId: 'user' };
  const held = await on.hold({
    account,
    amount: 100,
    key: ids.next(),
    expiresAt: clock.now() + 900_000,
    details,
  });
  if (held.outcome !== 'held') throw new Error(held.outcome);
  await on.settle(held.hold, 60, { input: 10, output: 20 });
}

interface Cost {
  /** User and system time of this process per call, in microseconds. */
  readonly cpu: number;
  readonly perSecond: number;
}

async function getCost(
  callers: number,
  calls: number,
  call: (caller: number) => Promise<void>,
): Promise<Cost> {
  const cpuBefore = process.cpuUsage();
  const began = performance.now();
  let left = calls;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (; left > 0; left -= 1) await call(caller);
    }),
  );
  const { user, system } = process.cpuUsage(cpuBefore);
  return { cpu: (user + system) / calls, perSecond: calls / ((performance.now() - began) / 1000) };
}

for (let caller = 0; caller < CALLERS; caller += 1) {
  for (const isShared of [false, true]) {
    const account = getAccount(caller, isShared);
    await pool.query(`insert into ${schema}.bare_accounts values ($1, 0) on conflict do nothing`, [account]);
    await ledger.grant({ account, amount: 1e12, key: 'bench', reason: 'bench' });
  }
}

for (const isShared of [false, true]) {
  const ours = () => getCost(CALLERS, CALLS, (caller) => holdAndSettle(ledger, getAccount(caller, isShared)));
  const theirs = () => getCost(CALLERS, CALLS, (caller) => bare(getAccount(caller, isShared)));
  await ours();
  await theirs();
  const pairs: { ours: Cost; bare: Cost }[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    // Alternates the order, so that drift of the machine cancels out.
    if (pair % 2 === 0) pairs.push({ ours: await ours(), bare: await theirs() });
    else pairs.push({ bare: await theirs(), ours: await ours() });
  }
  const middle = (value: (pair: { ours: Cost; bare: Cost }) => number) => median(pairs.map(value));
  reportRatio(
    `P8  hold + settle / bare transaction, ${isShared ? 'one account' : `${CALLERS} accounts`}`,
    middle((pair) => pair.ours.cpu / pair.bare.cpu),
    2,
    `CPU ${middle((pair) => pair.ours.cpu).toFixed(0)} us (reference ${middle((pair) => pair.bare.cpu).toFixed(0)} us); ` +
      `rate ${middle((pair) => pair.ours.perSecond / pair.bare.perSecond).toFixed(2)} x, ` +
      `${middle((pair) => pair.ours.perSecond).toFixed(0)}/s (${middle((pair) => pair.bare.perSecond).toFixed(0)}/s)`,
  );
}

const embedded = createSqliteDatabase({ path: ':memory:' });
await migrate(embedded, { collections: [] });
const embeddedLedger = createSqlLedger(embedded, { clock, ids });
await embeddedLedger.grant({ account: 'user:0', amount: 1e12, key: 'bench', reason: 'bench' });
const { cpu, perSecond } = await getCost(1, 5000, () => holdAndSettle(embeddedLedger, 'user:0'));
console.log(
  `hold + settle on embedded SQLite, in memory: CPU ${cpu.toFixed(0)} us, ${perSecond.toFixed(0)}/s`,
);

await embedded.close();
await pool.query(`drop schema ${schema} cascade`);
await pool.end();
