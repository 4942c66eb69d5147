import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { createPostgresDatabase, createSqlQueue, type PostgresDatabase } from '../src/index.ts';

/** Processes on one PostgreSQL, whose only working statement is `pg_notify`. */
function setUp() {
  const clock = createFakeClock();
  const ids = { ...createFakeIds(), bytes: () => Uint8Array.of(255) };
  const open = new Set<{ readonly channel: string; readonly call: (payload: string | undefined) => void }>();
  const connection = {
    async query(text: string, [channel, payload]: readonly unknown[] = []) {
      if (text.includes('pg_notify')) {
        for (const one of open) if (one.channel === channel) one.call(String(payload));
      }
      return { rows: [{ id: 'done' }] };
    },
  };
  const listen: PostgresDatabase['listen'] = (channel, call) => {
    const one = { channel, call };
    open.add(one);
    return () => {
      open.delete(one);
    };
  };
  const start = (schema = 'app') => {
    const database = { ...createPostgresDatabase({ connection, schema }), listen };
    const queue = createSqlQueue(database, { clock, ids, listen: true });
    const process = { queue, calls: 0, stop: () => {} };
    process.stop = queue.onReady(() => {
      process.calls += 1;
    });
    return process;
  };
  return { clock, connection, open, start };
}

const JOB = { kind: 'work', key: 'a', payload: 1 };

it('wakes the other processes of a schema up to 25 ms after a job', async () => {
  const { clock, start } = setUp();
  const [here, there, elsewhere] = [start(), start(), start('other')];
  await here.queue.enqueue(JOB);
  await clock.advance(24);
  expect([here.calls, there.calls]).toEqual([1, 0]);
  await clock.advance(1000);
  expect([here.calls, there.calls, elsewhere.calls]).toEqual([1, 1, 0]);
});

it('wakes a process whose connection to PostgreSQL begins, since it may have missed notices', async () => {
  const { clock, open, start } = setUp();
  const here = start();
  for (const one of open) one.call(undefined);
  await clock.advance(25);
  expect(here.calls).toBe(1);
});

it('ends to listen on PostgreSQL with the last listener', async () => {
  const { clock, open, start } = setUp();
  const [here, there] = [start(), start()];
  expect([...open].map(({ channel }) => channel)).toEqual(Array(2).fill('app.questline_jobs'));
  there.stop();
  expect(open.size).toBe(1);
  await here.queue.enqueue(JOB);
  await clock.advance(1000);
  expect(there.calls).toBe(0);
});

it('refuses to listen on PostgreSQL without a pool', () => {
  const { connection } = setUp();
  const database = createPostgresDatabase({ connection });
  const options = { clock: createFakeClock(), ids: createFakeIds() };
  expect(() => createSqlQueue(database, { ...options, listen: true })).toThrow(TypeError);
  expect(() => createSqlQueue(database, options)).not.toThrow();
});
