/**
 * How long clean-ups on SQLite delay other requests: `npm run bench:stalls`, or with the seconds of the load and the number of jobs. An app in this
 * process answers 100 requests a second. Meanwhile it deletes a session of 50,000 messages, 50,000 expired idempotency keys
 * and 100,000 jobs, and archives 50,000 charges. Reports the delay of the event loop, the CPU time of its
 * turns, which hardly depends on other processes, and the time of `GET /api/ping`. Exits with 1 beyond a bound.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { COLLECTIONS } from '@questline/core';
import { IDEMPOTENCY, MESSAGES } from '@questline/core/internal';
import { createSqliteDatabase, createSqlPorts, migrate } from '@questline/sql';
import { createTestApp, NOW } from '../test/support/test-app.ts';
import { percentile, reportAmount } from './support/report.ts';

const SECONDS = Number(process.argv[2] ?? 600);
const EVERY_MS = 10;
const RECORDS = 50_000;
const JOBS = Number(process.argv[3] ?? 100_000);
const LEASED = 20;
const MAX_DELAY_MS = 25;
const MAX_PING_MS = 50;

const folder = mkdtempSync(join(tmpdir(), 'questline-stalls-'));
const database = createSqliteDatabase({ path: join(folder, 'questline.db') });
await migrate(database, { collections: COLLECTIONS });
const app = await createTestApp({
  ports: (given) => createSqlPorts(database, given),
  key: {
    scopes: ['notebooks:read', 'notebooks:write'],
    requestsPerMinute: 10_000,
    requestsPerDay: 100_000_000,
  },
  settings: { worker: { pollMs: 60_000 } },
});
const { queue, idempotency, store, ledger } = app.services;
const numbers = (count: number): string =>
  `(with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1}) select i from n)`;

async function fill(collection: string, record: string): Promise<void> {
  await database.run(
    {
      sql: `insert into ${database.names.table(collection)} (id, record)
        select printf('%024x', i), json_object('id', printf('%024x', i), ${record}) from ${numbers(RECORDS)}`,
      parameters: [],
    },
    { timeoutMs: 600_000 },
  );
}

const created = await app.ask('POST', '/api/v1/sessions', { body: { name: 'Long' } });
const { id } = (await created.json()) as { id: string };
await fill(
  MESSAGES.name,
  `'sessionId', '${id}', 'ownerId', '${app.user.id}', 'role', 'user', 'content', 'Hi', 'createdAt', i, 'bytes', 300`,
);
await fill(IDEMPOTENCY.name, `'bodyHash', 'x', 'answer', '{}', 'expiresAt', ${NOW - 1}`);
await database.run(
  {
    sql: `insert into ${database.names.table('jobs')} (id, key, kind, owner, payload, run_at, due_at, ready, attempt, fence)
      select 'job ' || i, 'job ' || i, 'stalls', 'owner ' || (i % 100), '{}', 0, 0, 1, 0, 0 from ${numbers(JOBS)}`,
    parameters: [],
  },
  { timeoutMs: 600_000 },
);
const table = database.names.table('ledgerCharges');
await database.run(
  {
    sql: `insert into ${table} (id, kind, key, account, reserved, expires_at, charged, settled_at, operation, model, key_id,
        user_id, usage, created_at)
      select 'charge ' || i, 'hold', 'charge ' || i, 'user:' || (i % 1000), 1, 0, 1, 1, 'sendChatMessage', 'model',
        'key ' || (i % 1000), 'user ' || (i % 1000), '{"input":1,"output":2}', ${NOW - 365 * 86_400_000} + i * 1000
      from ${numbers(RECORDS)}`,
    parameters: [],
  },
  { timeoutMs: 600_000 },
);
const token = await app.token();
await app.api.start();

const delay = monitorEventLoopDelay({ resolution: 1 });
const pings: number[] = [];
/** CPU milliseconds of each turn of the event loop. */
const turns: number[] = [];
let lastCpu = process.cpuUsage();
const ticks = setInterval(() => {
  const { user, system } = process.cpuUsage(lastCpu);
  lastCpu = process.cpuUsage();
  turns.push((user + system) / 1000);
}, 1);
let failures = 0;
async function request(path: string): Promise<void> {
  const began = performance.now();
  const { status } = await app.ask('GET', path, { ...(path === '/api/ping' && { credential: null }) });
  if (status !== 200) failures += 1;
  if (path === '/api/ping') pings.push(performance.now() - began);
}

async function deleteSession(): Promise<void> {
  await app.ask('DELETE', `/api/sessions/${id}`, { credential: token });
  await app.clock.advance(1000);
  while ((await store.collection(MESSAGES).count({ sessionId: id })) > 0) await pause(50);
}

async function drainJobs(): Promise<void> {
  for (;;) {
    const jobs = await queue.lease({ kinds: ['stalls'], limit: LEASED, leaseMs: 60_000 });
    if (jobs.length === 0) return;
    for (const job of jobs) await queue.finish(job);
  }
}

async function archiveCharges(): Promise<void> {
  const page = { before: NOW - 90 * 86_400_000, limit: 200 };
  while ((await ledger.archiveCharges?.(page, async () => {})) === page.limit);
}

/** The figures of a part of the load. The next part begins when the turn of the report is over. */
async function report(part: string): Promise<void> {
  const details = `${pings.length} pings, load of the machine ${loadavg()[0]?.toFixed(1)}`;
  const sorted = pings.sort((a, b) => a - b);
  const delayed = delay.percentile(99) / 1e6;
  if (delayed > MAX_DELAY_MS || percentile(sorted, 0.99) > MAX_PING_MS || failures > 0) process.exitCode = 1;
  reportAmount(`${part}: delay of the event loop, p99`, delayed, 'ms', MAX_DELAY_MS, details);
  const busy = percentile(
    turns.sort((a, b) => a - b),
    0.99,
  );
  reportAmount(`${part}: CPU of a turn, p99`, busy, 'ms', MAX_DELAY_MS, `${turns.length} turns`);
  reportAmount(`${part}: ping, p99`, percentile(sorted, 0.99), 'ms', MAX_PING_MS, `${failures} failures`);
  await pause(100);
  turns.length = 0;
  pings.length = 0;
  delay.reset();
}

const paths = ['/api/ping', '/api/v1/sessions'];
let sent = 0;
// Timers that are late catch up, so that the rate is kept.
const began = performance.now();
const load = setInterval(() => {
  for (; sent < (performance.now() - began) / EVERY_MS; sent += 1) {
    if (sent % 50 === 0) void app.clock.advance(EVERY_MS * 50);
    void request(paths[sent % paths.length] ?? '/api/ping');
  }
}, EVERY_MS);
const quietMs = (SECONDS * 1000) / 2;
delay.enable();
await pause(quietMs);
await report('alone');
for (const [part, work] of [
  ['a session of 50,000 messages', deleteSession],
  ['50,000 expired keys', () => idempotency.sweep()],
  [`${JOBS} jobs`, drainJobs],
  ['50,000 old charges', archiveCharges],
] as const) {
  const start = performance.now();
  await work();
  console.log(`${part}: removed in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  await report(part);
}
const leftMs = began + SECONDS * 1000 - performance.now();
if (leftMs > 0) {
  await pause(leftMs);
  await report('after them');
}
clearInterval(load);
clearInterval(ticks);
await pause(100);
await app.api.close();
await database.close();
rmSync(folder, { recursive: true });
