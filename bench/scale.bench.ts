/**
 * Chat turns per CPU-second of 1, 2 and 4 processes on one PostgreSQL database: CPU of the processes and of their
 * database connections. 32 accounts, 48 turns at once, which the processes share: each of several does less at a time than the
 * one. `BENCH_EACH=16`: so many turns at once for each process instead, and as many turns in all: otherwise each of several is
 * measured sooner after its start, with more code that is not compiled yet. `BENCH_RATE=200`: a turn begins every
 * 5 ms, whatever the number of processes, so that no core is full. `BENCH_ACCOUNTS=1`: one account pays for all of them.
 * `BENCH_POOL=3`: connections of each process, 10 by default. `BENCH_CORE=0`: everything runs on this core, with the
 * connections of a local database, so that it is busy whatever the number of processes. On two threads of one core a second of CPU does
 * more while the other thread waits, as it often does beside one process. Also counts transactions that were rolled back. Several
 * processes on few cores cost more of each core's time whatever they do, so the bare server of the comparison is measured in the
 * same way: the ratio of both shows what the processes cost each other. The numbers of processes alternate, and the medians are
 * reported.
 * Needs a superuser that may create a database.
 */
import { cpus } from 'node:os';
import { COLLECTIONS, createServices, createUser, issueApiKey } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createPostgresDatabase, createSqlPorts, migrate } from '@questline/sql';
import pg from 'pg';
import { Pool } from 'undici';
import { NOT_MEASURED, readBackendTime } from './support/backends.ts';
import { type Measured, pin, start } from './support/process.ts';
import { median, reportRatio } from './support/report.ts';
import type { Caller } from './support/servers/postgres-workspace.ts';

const MAIN = process.env.QUESTLINE_TEST_POSTGRES_URL ?? 'postgres://root@127.0.0.1:5432/test';
const ROUNDS = Number(process.env.BENCH_PAIRS ?? 3);
const TURNS = Number(process.env.BENCH_TURNS ?? 4000);
const ACCOUNTS = Number(process.env.BENCH_ACCOUNTS ?? 32);
/** Per process: each compiles its own code. */
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 2000);
const AT_ONCE = 48;
/** Turns at once for each process. 0: all processes share `AT_ONCE`. */
const EACH = Number(process.env.BENCH_EACH ?? 0);
/** Turns that begin per second, after the warm-up. 0: the next one begins when one ends. */
const RATE = Number(process.env.BENCH_RATE ?? 0);
/** Number of the core of all processes. Undefined: the scheduler chooses. */
const CORE = process.env.BENCH_CORE === undefined ? undefined : Number(process.env.BENCH_CORE);
if (CORE !== undefined && !(CORE in cpus()))
  throw new RangeError(`BENCH_CORE is one of the ${cpus().length} cores, from 0.`);
/** The one key that the bare server knows. */
const BARE_KEY = `svc_live_${'k'.repeat(43)}`;
const COUNTS = [1, 2, 4];

const name = `questline_scale_${process.pid}`;
const main = new pg.Pool({ connectionString: MAIN, max: 1 });
await main.query(`create database ${name}`);
const address = new URL(MAIN);
address.pathname = `/${name}`;
const admin = new pg.Pool({ connectionString: address.href, max: 1, application_name: NOT_MEASURED });
// At the end its connection may close later than its database.
admin.on('error', () => undefined);
// Processes that are started inherit it.
if (CORE !== undefined) pin(process.pid, CORE);

const { keys, callers } = await prepare();
/** The servers, and how a finished request answers. */
const SERVERS = {
  questline: { file: 'servers/questline-postgres.ts', done: '"status":"done"' },
  bare: { file: 'servers/bare-postgres.ts', done: '"status":"queued"' },
} as const;
type Kind = keyof typeof SERVERS;
const KINDS: readonly Kind[] = ['questline', 'bare'];

const results = new Map(KINDS.map((kind) => [kind, new Map(COUNTS.map((count) => [count, [] as Result[]]))]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const count of round % 2 === 0 ? COUNTS : COUNTS.toReversed()) {
    for (const kind of KINDS)
      results
        .get(kind)
        ?.get(count)
        ?.push(await measure(kind, count));
  }
}

const middle = (kind: Kind, count: number, value: (result: Result) => number): number =>
  median((results.get(kind)?.get(count) ?? []).map(value));
const getSpeed = (kind: Kind, count: number): number =>
  middle(kind, count, (result) => result.turns / (result.node + result.postgres));
for (const count of COUNTS) {
  const [own, bare] = KINDS.map((kind) => getSpeed(kind, 1) / getSpeed(kind, count));
  const ms = (value: (result: Result) => number) =>
    middle('questline', count, (result) => (1000 * value(result)) / result.turns).toFixed(2);
  reportRatio(
    `chat turns per CPU-second, 1 process / ${count}`,
    own ?? 0,
    1.1,
    `${getSpeed('questline', count).toFixed(0)} per CPU-second; a turn: ${ms((result) => result.node)} ms Node, ` +
      `${ms((result) => result.postgres)} ms PostgreSQL, ` +
      `${middle('questline', count, (result) => result.rollbacks / result.allTurns).toFixed(4)} transactions rolled back`,
  );
  reportRatio(
    `the same beside the bare server, 1 process / ${count}`,
    (own ?? 0) / (bare ?? 1),
    1.1,
    `bare: ${bare?.toFixed(2)} x, ${getSpeed('bare', count).toFixed(0)} per CPU-second`,
  );
}

await admin.end();
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

/** Creates the accounts. @returns their API keys. */
async function prepare(): Promise<{ readonly keys: readonly string[]; readonly callers: readonly Caller[] }> {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const pool = new pg.Pool({ connectionString: address.href, max: 4 });
  const database = createPostgresDatabase({ pool });
  await migrate(database, { collections: COLLECTIONS });
  const ports = createSqlPorts(database, { clock, ids });
  const services = createServices({ ...ports, models: [], clock, ids }, { jwtSecret: 'b'.repeat(64) });
  const made: { readonly key: string; readonly caller: Caller }[] = [];
  for (let at = 0; at < ACCOUNTS; at += 1) {
    const username = `bench${at}`;
    const user = await createUser(services, { email: `${username}@example.com`, username });
    if (user === undefined) throw new Error('no user');
    const account = `user:${user.id}`;
    await ports.ledger.grant({ account, amount: 1e12, key: username, reason: 'bench' });
    const { key, record } = await issueApiKey(services, {
      userId: user.id,
      name: 'bench',
      scopes: ['ai:chat'],
      requestsPerMinute: 1e9,
      requestsPerDay: 1e9,
    });
    made.push({ key, caller: { userId: user.id, account, keyId: record.id } });
  }
  await database.close();
  await pool.end();
  return { keys: made.map(({ key }) => key), callers: made.map(({ caller }) => caller) };
}

async function measure(kind: Kind, count: number): Promise<Result> {
  const before = await getRollbacks();
  const servers = await Promise.all(
    Array.from({ length: count }, () =>
      start(kind, SERVERS[kind].file, {
        ...{ BENCH_DATABASE: address.href, DATABASE_URL: address.href },
        CALLERS: JSON.stringify(callers),
        // Not called: the model answers by itself.
        UPSTREAM: 'http://127.0.0.1:1/v1',
      }),
    ),
  );
  const warmUp = count * WARM_UP;
  await chat(kind, servers, warmUp);
  await pinBackends();
  // As the server does by itself in its own time.
  await admin.query('vacuum analyze');
  // The pools are full after the warm-up, and keep their connections.
  const [node, postgres] = [await getNodeCpu(servers), await readBackendTime(main, name)];
  const turns = EACH === 0 ? TURNS : count * TURNS;
  await (RATE === 0 ? chat(kind, servers, turns) : chatAtRate(kind, servers, turns));
  const used = {
    node: (await getNodeCpu(servers)) - node,
    postgres: ((await readBackendTime(main, name)) - postgres) / 1e6,
  };
  await Promise.all(servers.map((server) => server.stop()));
  // Connections report when they end.
  await untilIdle();
  return { ...used, turns, allTurns: turns + warmUp, rollbacks: (await getRollbacks()) - before };
}

/** Sends one turn of the account at `place`. */
type SendTurn = (pool: Pool, place: number) => Promise<void>;

async function chat(kind: Kind, servers: readonly Measured[], turns: number): Promise<void> {
  const atOnce = EACH === 0 ? AT_ONCE : EACH * servers.length;
  const send = createTurns(kind);
  const pools = servers.map(({ url }) => new Pool(url, { connections: atOnce, pipelining: 1 }));
  let left = turns;
  await Promise.all(
    Array.from({ length: atOnce }, async (_, place) => {
      const pool = pools[place % pools.length];
      while (pool !== undefined && left > 0) {
        left -= 1;
        await send(pool, place);
      }
    }),
  );
  await Promise.all(pools.map((pool) => pool.close()));
}

async function chatAtRate(kind: Kind, servers: readonly Measured[], turns: number): Promise<void> {
  const send = createTurns(kind);
  const pools = servers.map(({ url }) => new Pool(url, { connections: AT_ONCE, pipelining: 1 }));
  const from = performance.now();
  const sent: Promise<void>[] = [];
  for (let at = 0; at < turns; at += 1) {
    const wait = from + (1000 * at) / RATE - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const pool = pools[at % pools.length];
    if (pool !== undefined) sent.push(send(pool, at));
  }
  await Promise.all(sent);
  await Promise.all(pools.map((pool) => pool.close()));
}

function createTurns(kind: Kind): SendTurn {
  const { done } = SERVERS[kind];
  const body = JSON.stringify({ message: 'Tell me a short story about a storm.', wait: true });
  return async (pool, place) => {
    const key = kind === 'bare' ? BARE_KEY : keys[place % keys.length];
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const answer = await pool.request({ method: 'POST', path: '/api/chat', headers, body });
    const text = await answer.body.text();
    if (!text.includes(done)) throw new Error(`a turn answered ${text}`);
  };
}

async function getNodeCpu(servers: readonly Measured[]): Promise<number> {
  const readings = await Promise.all(servers.map((server) => server.read()));
  return readings.reduce((sum, { cpu }) => sum + cpu, 0) / 1e6;
}

/** Keeps the database's processes, which are no children of this one, on the same core. */
async function pinBackends(): Promise<void> {
  if (CORE === undefined) return;
  const { rows } = await admin.query('select pid from pg_stat_activity where datname = $1', [name]);
  for (const { pid } of rows) pin(Number(pid), CORE);
}

async function getRollbacks(): Promise<number> {
  const { rows } = await main.query('select xact_rollback from pg_stat_database where datname = $1', [name]);
  return Number(rows[0]?.xact_rollback);
}

async function untilIdle(): Promise<void> {
  for (;;) {
    const { rows } = await main.query(
      'select 1 from pg_stat_activity where datname = $1 and application_name <> $2',
      [name, NOT_MEASURED],
    );
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
