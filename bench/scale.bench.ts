/**
 * Chat turns per CPU-second of 1, 2 and 4 processes on one PostgreSQL database: CPU of the processes and of their
 * database connections. 32 accounts, 48 turns at once. Also counts transactions that were rolled back. The numbers of
 * processes alternate, and the medians are reported. Needs a superuser that may create a database.
 */
import { readFileSync } from 'node:fs';
import { COLLECTIONS, createServices, createUser, issueApiKey } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createPostgresDatabase, createSqlPorts, migrate } from '@questline/sql';
import pg from 'pg';
import { Pool } from 'undici';
import { type Measured, start } from './support/process.ts';
import { median, reportRatio } from './support/report.ts';

const MAIN = process.env.QUESTLINE_TEST_POSTGRES_URL ?? 'postgres://root@127.0.0.1:5432/test';
const ROUNDS = Number(process.env.BENCH_PAIRS ?? 3);
const TURNS = Number(process.env.BENCH_TURNS ?? 1500);
const ACCOUNTS = 32;
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 500);
const AT_ONCE = 48;
/** Ticks of /proc per second. */
const TICKS = 100;
const COUNTS = [1, 2, 4];

const name = `questline_scale_${process.pid}`;
const main = new pg.Pool({ connectionString: MAIN, max: 1 });
await main.query(`create database ${name}`);
const address = new URL(MAIN);
address.pathname = `/${name}`;

const keys = await prepare();
const results = new Map(COUNTS.map((count) => [count, [] as Result[]]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const count of round % 2 === 0 ? COUNTS : COUNTS.toReversed()) {
    results.get(count)?.push(await measure(count));
  }
}

const middle = (count: number, value: (result: Result) => number): number =>
  median((results.get(count) ?? []).map(value));
for (const count of COUNTS) {
  const perSecond = middle(count, (result) => result.turns / (result.node + result.postgres));
  const first = middle(1, (result) => result.turns / (result.node + result.postgres));
  const ms = (value: (result: Result) => number) =>
    middle(count, (result) => (1000 * value(result)) / result.turns).toFixed(2);
  reportRatio(
    `chat turns per CPU-second, 1 process / ${count}`,
    first / perSecond,
    1.1,
    `${perSecond.toFixed(0)} per CPU-second; a turn: ${ms((result) => result.node)} ms Node, ` +
      `${ms((result) => result.postgres)} ms PostgreSQL, ` +
      `${middle(count, (result) => result.rollbacks / result.allTurns).toFixed(4)} transactions rolled back`,
  );
}

await main.query(`drop database ${name} with (force)`);
await main.end();

interface Result {
  readonly turns: number;
  /** With those of the warm-up. */
  readonly allTurns: number;
  /** Seconds of CPU. */
  readonly node: number;
  readonly postgres: number;
  readonly rollbacks: number;
}

/** @returns the API keys of the accounts. */
async function prepare(): Promise<readonly string[]> {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const pool = new pg.Pool({ connectionString: address.href, max: 4 });
  const database = createPostgresDatabase({ pool });
  await migrate(database, { collections: COLLECTIONS });
  const ports = createSqlPorts(database, { clock, ids });
  const services = createServices({ ...ports, models: [], clock, ids }, { jwtSecret: 'b'.repeat(64) });
  const made: string[] = [];
  for (let account = 0; account < ACCOUNTS; account += 1) {
    const username = `bench${account}`;
    const user = await createUser(services, { email: `${username}@example.com`, username });
    if (user === undefined) throw new Error('no user');
    await ports.ledger.grant({ account: `user:${user.id}`, amount: 1e12, key: username, reason: 'bench' });
    const { key } = await issueApiKey(services, {
      userId: user.id,
      name: 'bench',
      scopes: ['ai:chat'],
      requestsPerMinute: 1e9,
      requestsPerDay: 1e9,
    });
    made.push(key);
  }
  await database.close();
  await pool.end();
  return made;
}

async function measure(count: number): Promise<Result> {
  const before = await getRollbacks();
  const servers = await Promise.all(
    Array.from({ length: count }, () =>
      start('questline', 'servers/questline-postgres.ts', { BENCH_DATABASE: address.href }),
    ),
  );
  // Each process compiles its own code.
  const warmUp = count * WARM_UP;
  await chat(servers, warmUp);
  const [node, postgres] = [await getNodeCpu(servers), await getPostgresCpu()];
  await chat(servers, TURNS);
  const used = { node: (await getNodeCpu(servers)) - node, postgres: (await getPostgresCpu()) - postgres };
  await Promise.all(servers.map((server) => server.stop()));
  // Connections report when they end.
  await untilIdle();
  return { ...used, turns: TURNS, allTurns: TURNS + warmUp, rollbacks: (await getRollbacks()) - before };
}

async function chat(servers: readonly Measured[], turns: number): Promise<void> {
  const pools = servers.map(({ url }) => new Pool(url, { connections: AT_ONCE, pipelining: 1 }));
  let left = turns;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, caller) => {
      const headers = {
        authorization: `Bearer ${keys[caller % keys.length]}`,
        'content-type': 'application/json',
      };
      const body = JSON.stringify({ message: 'Tell me a short story about a storm.', wait: true });
      while (left > 0) {
        left -= 1;
        const answer = await pools[caller % pools.length]?.request({
          method: 'POST',
          path: '/api/chat',
          headers,
          body,
        });
        const text = await answer?.body.text();
        if (!text?.includes('"status":"done"')) throw new Error(`a turn answered ${text}`);
      }
    }),
  );
  await Promise.all(pools.map((pool) => pool.close()));
}

async function getNodeCpu(servers: readonly Measured[]): Promise<number> {
  const readings = await Promise.all(servers.map((server) => server.read()));
  return readings.reduce((sum, { cpu }) => sum + cpu, 0) / 1e6;
}

/** The CPU of the connections to the database. The pools are full after the warm-up, and keep their connections. */
async function getPostgresCpu(): Promise<number> {
  const { rows } = await main.query('select pid from pg_stat_activity where datname = $1', [name]);
  const ticks = rows.map(({ pid }: { pid: number }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS;
}

async function getRollbacks(): Promise<number> {
  const { rows } = await main.query('select xact_rollback from pg_stat_database where datname = $1', [name]);
  return Number(rows[0]?.xact_rollback);
}

async function untilIdle(): Promise<void> {
  for (;;) {
    const { rows } = await main.query('select 1 from pg_stat_activity where datname = $1', [name]);
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
