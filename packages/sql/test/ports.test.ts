import { createFakeClock, createFakeIds } from '@questline/testing';
import { expect, it, onTestFinished } from 'vitest';
import {
  createPostgresDatabase,
  createSqliteDatabase,
  createSqlPorts,
  type SqlDatabase,
} from '../src/index.ts';

function openSqlite(): SqlDatabase {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  return database;
}

/** A connection that notes its statements and answers them with rows of no use. */
function openPostgres(rows: readonly object[] = []) {
  const texts: string[] = [];
  const connection = {
    async query(text: string) {
      texts.push(text);
      return { rows: [...rows] };
    },
  };
  return { texts, database: createPostgresDatabase({ connection }) };
}

const options = { clock: createFakeClock(), ids: createFakeIds() };

it('creates every port of a database', () => {
  const ports = createSqlPorts(openSqlite(), options);
  expect(Object.keys(ports)).toEqual(['store', 'ledger', 'queue', 'limiter', 'vectors', 'eventLog']);
});

it('passes its options on to the queue and the limiter', async () => {
  expect(() => createSqlPorts(openSqlite(), { ...options, claimEveryMs: -1 })).toThrow(RangeError);
  expect(() => createSqlPorts(openSqlite(), { ...options, time: 'database' })).toThrow(TypeError);
  const { texts, database } = openPostgres([{ now: 5, windows: null }]);
  const peek = async (time?: 'database') =>
    createSqlPorts(database, { ...options, ...(time && { time }) }).limiter.peek('k', [], 1);
  await peek();
  await peek('database');
  expect(texts.map((text) => text.includes('statement_timestamp()'))).toEqual([false, true]);
});

it('uses the given clock', async () => {
  const { texts, database } = openPostgres();
  const times: number[] = [];
  const now = () => {
    times.push(1);
    return 1;
  };
  const { eventLog } = createSqlPorts(database, { ...options, clock: { ...options.clock, now } });
  await eventLog.expire();
  expect([texts.length, times.length]).toEqual([1, 1]);
});
