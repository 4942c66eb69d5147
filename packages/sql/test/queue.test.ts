import { setTimeout as sleep } from 'node:timers/promises';
import { createIds, createSystemClock } from '@questline/core/memory';
import { createFakeClock, createFakeIds, fakeTime, queueSuite } from '@questline/testing';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createPostgresDatabase, createSqlQueue } from '../src/index.ts';
import { ENGINES, POSTGRES, POSTGRES_URL } from './engines.ts';
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

describe.runIf(POSTGRES_URL !== undefined)('listening on PostgreSQL', () => {
  const shared = shareDatabase(POSTGRES);
  const clock = createSystemClock();
  const ids = createIds({ clock });

  it('hears of jobs that another process enqueues, also after its connection was lost', async () => {
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
    // Listening itself counts as a call: something may have come before.
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
