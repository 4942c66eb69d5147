/**
 * Acceptance on PostgreSQL whose commits take 2 ms: jobs accepted by a queue that notifies other processes, beside plain
 * inserts into the same table, and beside inserts that notify within their transaction. 40 callers at once. Rounds
 * alternate; the medians are reported. Needs a superuser, for `commit_delay` in its own sessions.
 */
import { createIds, createSystemClock } from '@questline/core/memory';
import { createPostgresDatabase, createSqlQueue, migrate } from '@questline/sql';
import pg from 'pg';
import { median } from './support/report.ts';

const URL = process.env.QUESTLINE_TEST_POSTGRES_URL ?? 'postgres://root@127.0.0.1:5432/test';
const CALLERS = 40;
const ROUNDS = Number(process.env.BENCH_PAIRS ?? 5);
const ROUND_MS = 1500;
const COMMIT_DELAY_US = 2000;
const GOAL = 4000;

const clock = createSystemClock();
const ids = createIds({ clock });
const schema = `questline_accept_${process.pid}`;
const pool = new pg.Pool({
  connectionString: URL,
  // One more for LISTEN.
  max: CALLERS + 1,
  connectionTimeoutMillis: 10_000,
  options: `-c commit_delay=${COMMIT_DELAY_US} -c commit_siblings=0`,
});
await pool.query(`create schema ${schema}`);
const database = createPostgresDatabase({ pool, schema });
await migrate(database, { collections: [] });
const queue = createSqlQueue(database, { clock, ids, listen: true });
const stop = queue.onReady(() => undefined);

const insert = {
  name: 'bare-insert',
  text:
    `insert into ${schema}.questline_jobs (id, key, kind, owner, payload, run_at, due_at, ready, attempt, fence) ` +
    'values ($1, $2, $3, $4, $5, $6, $6, 1, 0, 0) on conflict (key) do nothing returning id',
};
const toValues = () => [ids.next(), ids.next(), 'chat', 'user:a', '{"questId":"a"}', clock.now()];

const FORMS = {
  async queue() {
    await queue.enqueue({ kind: 'chat', key: ids.next(), owner: 'user:a', payload: { questId: 'a' } });
  },
  async plain() {
    await pool.query({ ...insert, values: toValues() });
  },
  async notifying() {
    const client = await pool.connect();
    await client.query('begin');
    await client.query({ ...insert, values: toValues() });
    await client.query(`select pg_notify('${schema}', '')`);
    await client.query('commit');
    client.release();
  },
};
type Form = keyof typeof FORMS;

async function getRate(form: Form): Promise<number> {
  const began = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (performance.now() - began < ROUND_MS) {
        await FORMS[form]();
        done += 1;
      }
    }),
  );
  return done / ((performance.now() - began) / 1000);
}

const rates: Record<Form, number[]> = { queue: [], plain: [], notifying: [] };
const forms = Object.keys(rates) as Form[];
for (const form of forms) await getRate(form);
for (let round = 0; round < ROUNDS; round += 1) {
  const order = round % 2 === 0 ? forms : forms.toReversed();
  for (const form of order) rates[form].push(await getRate(form));
}
const middle = (form: Form): number => Math.round(median(rates[form]));
const verdict = middle('queue') >= GOAL ? 'met' : 'MISSED';
console.log(
  `accepted jobs at ${CALLERS} at once, commits of ${COMMIT_DELAY_US / 1000} ms: ${middle('queue')}/s   ` +
    `goal >= ${GOAL}/s   ${verdict}   plain inserts ${middle('plain')}/s ` +
    `(ratio ${(middle('queue') / middle('plain')).toFixed(2)}), notifying transactions ${middle('notifying')}/s`,
);

stop();
await database.close();
await pool.query(`drop schema ${schema} cascade`);
await pool.end();
