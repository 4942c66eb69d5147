import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { createIds, createMemoryPublisher, createSystemClock } from '@questline/core/memory';
import { createFakeClock, createFakeIds, fakeTime, queueSuite } from '@questline/testing';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createPostgresDatabase, createSqlQueue, type PostgresDatabase } from '../src/index.ts';
import { QUEUE_OWNERS, QUEUE_TABLES } from '../src/queue/tables.ts';
import { ENGINES, POSTGRES, POSTGRES_URL, SQLITE_FILE } from './engines.ts';
import { shareDatabase } from './shared.ts';

describe.each(ENGINES)('$name', (engine) => {
  const shared = shareDatabase(engine);

  queueSuite({
    name: engine.name,
    create: async () => {
      const clock = createFakeClock();
      return {
        queue: createSqlQueue(await shared.fresh(), { clock, ids: createFakeIds(1) }),
        peers: [createSqlQueue(shared.peer(), { clock, ids: createFakeIds(2) })],
        time: fakeTime(clock),
      };
    },
  });
});

describe.each(ENGINES)('jobs of an older version on $name', (engine) => {
  it('are claimed at their due time, including those that an older process adds later', async () => {
    const { database, close } = await engine.open();
    const { dialect, names } = database;
    const clock = createFakeClock();
    const run = (sql: string) => database.run({ sql, parameters: [] });
    const add = (key: string, runAt: number, leaseUntil: number | null) =>
      run(`insert into ${names.table('jobs')} (id, key, kind, payload, run_at, lease_until, attempt, fence)
           values ('${key}', '${key}', 'quest', '{}', ${runAt}, ${leaseUntil}, ${leaseUntil === null ? 0 : 1}, 1)`);
    for (const sql of QUEUE_TABLES.statements(dialect, names)) await run(sql);
    await add('due', clock.now() - 1, null);
    await add('delayed', clock.now() + 1000, null);
    await add('leased', clock.now() - 1, clock.now() + 2000);
    for (const sql of QUEUE_OWNERS.statements(dialect, names)) await run(sql);
    await add('added', clock.now(), null);
    await add('added for later', clock.now() + 3000, null);

    const queue = createSqlQueue(database, { clock, ids: createFakeIds() });
    const lease = async () =>
      (await queue.lease({ kinds: ['quest'], limit: 10, leaseMs: 60_000 })).map(({ key }) => key).sort();
    expect(await lease()).toEqual(['added', 'due']);
    for (const key of ['delayed', 'leased', 'added for later']) {
      await clock.advance(999);
      expect(await lease()).toEqual([]);
      await clock.advance(1);
      expect(await lease()).toEqual([key]);
    }
    await close();
  });
});

describe.runIf(POSTGRES_URL !== undefined)('LISTEN on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);
  const clock = createSystemClock();
  const ids = createIds({ clock });

  it('reports jobs that another process enqueues, also after a reconnect', async () => {
    const { names } = await shared.fresh();
    const pool = new pg.Pool({ connectionString: POSTGRES_URL, max: 2 });
    const options = names.schema === undefined ? {} : { schema: names.schema };
    const here = createSqlQueue(createPostgresDatabase({ pool, ...options }), { clock, ids, listen: true });
    const elsewhere = createSqlQueue(shared.peer(), { clock, ids, listen: true });
    let calls = 0;
    const until = async (wanted: number) => {
      for (let tries = 0; calls < wanted && tries < 400; tries += 1) await sleep(10);
      expect(calls).toBeGreaterThanOrEqual(wanted);
    };

    const stop = here.onReady(() => {
      calls += 1;
    });
    // Starting to listen also counts as a call.
    await until(1);
    await elsewhere.enqueue({ kind: 'any', key: 'first', payload: 1 });
    await until(2);
    await elsewhere.enqueue({ kind: 'any', key: 'later', payload: 1, runAt: clock.now() + 600_000 });

    const kill = `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "${names.schema}.questline_jobs"'`;
    await pool.query(kill);
    await until(3);
    await elsewhere.enqueue({ kind: 'any', key: 'second', payload: 1 });
    await until(4);
    expect(calls).toBe(4);

    stop();
    await pool.end();
  });
});

describe('notices of due jobs', () => {
  const shared = shareDatabase(SQLITE_FILE);

  it('reach the accepting process at once and the others within 25 ms', async () => {
    const clock = createFakeClock();
    const ids = createFakeIds();
    const publisher = createMemoryPublisher();
    const here = createSqlQueue(await shared.fresh(), { clock, ids, publisher });
    const elsewhere = createSqlQueue(shared.peer(), { clock, ids, publisher });
    const calls: string[] = [];
    const stops = [here.onReady(() => calls.push('here')), elsewhere.onReady(() => calls.push('elsewhere'))];
    await turn();
    await here.enqueue({ kind: 'any', key: 'first', payload: 1 });
    await turn();
    expect(calls).toEqual(['here']);
    await clock.advance(25);
    expect(calls).toEqual(['here', 'elsewhere']);
    await here.enqueue({ kind: 'any', key: 'later', payload: 1, runAt: clock.now() + 600_000 });
    await clock.advance(100);
    expect(calls).toHaveLength(2);
    for (const stop of stops) stop();
    await here.enqueue({ kind: 'any', key: 'unheard', payload: 1 });
    await clock.advance(100);
    expect(calls).toHaveLength(2);
  });
});

describe.skipIf(POSTGRES_URL === undefined)('notices of PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);

  it('are two for 100 jobs accepted within 25 ms, outside of their statements', async () => {
    const database = (await shared.fresh()) as PostgresDatabase;
    const statements: string[] = [];
    const spied: PostgresDatabase = {
      ...database,
      run(statement, options) {
        statements.push(statement.sql);
        return database.run(statement, options);
      },
    };
    const clock = createFakeClock();
    const listen = () => () => undefined;
    const queue = createSqlQueue({ ...spied, listen }, { clock, ids: createFakeIds(), listen: true });
    for (let at = 0; at < 100; at += 1) await queue.enqueue({ kind: 'any', key: `job ${at}`, payload: at });
    const notices = () => statements.filter((sql) => sql.includes('notify'));
    expect(notices()).toHaveLength(1);
    for (let look = 0; look < 10; look += 1) await clock.advance(25);
    expect(notices()).toHaveLength(2);
    expect(statements).toHaveLength(102);
    const [job] = await queue.lease({ kinds: ['any'], limit: 1, leaseMs: 1000 });
    if (job === undefined) throw new Error('no job');
    await queue.retry(job, { runAt: clock.now(), countAttempt: true });
    expect(notices()).toHaveLength(3);
  });
});
