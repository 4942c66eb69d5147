import { EVENT_BATCHES } from '@questline/core/internal';
import { writesTo } from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TransactionOptions } from '../src/database.ts';
import {
  createSqlEventLog,
  createSqliteDatabase,
  createSqlStore,
  migrate,
  type SqlDatabase,
} from '../src/index.ts';
import { POSTGRES, POSTGRES_URL } from './engines.ts';

async function openSqlite() {
  const database = createSqliteDatabase({ path: ':memory:' });
  onTestFinished(() => database.close());
  await migrate(database, { collections: [] });
  return database;
}

const append = (log: ReturnType<typeof createSqlEventLog>, stream: string, after = 0) =>
  log.append(stream, { attempt: 1, after, events: ['event'], keepMs: 1000 });

describe('an event log in a table', () => {
  it('joins the batches of a stream in a transaction, for as long as its caller waits', async () => {
    const clock = createFakeClock();
    const database = await openSqlite();
    const failure = new Error('lost');
    const asked: (TransactionOptions | undefined)[] = [];
    const failing: SqlDatabase = {
      ...database,
      async transaction(_work, options) {
        asked.push(options);
        throw failure;
      },
    };
    const { signal } = new AbortController();
    const log = createSqlEventLog(failing, { clock });
    await append(log, 'a');
    await expect(log.compact('a', 1000, { signal })).rejects.toBe(failure);
    expect(asked).toEqual([{ signal, isolation: 'read committed' }]);
    expect((await log.read('a', 0))?.map(({ event }) => event)).toEqual(['event']);
  });

  it('removes expired streams in steps of 500', async () => {
    const clock = createFakeClock();
    const database = await openSqlite();
    const steps: number[] = [];
    const log = createSqlEventLog(
      {
        ...database,
        async run(statement, options) {
          const rows = await database.run(statement, options);
          if (statement.sql.startsWith('delete')) steps.push(rows.length);
          return rows;
        },
      },
      { clock },
    );
    for (let at = 0; at < 1000; at += 1) await append(log, `s${at}`);
    await append(log, 's0', 1);
    await clock.advance(1000);
    expect(await log.expire()).toBe(1000);
    expect(steps.reduce((sum, step) => sum + step, 0)).toBe(1001);
    expect(steps).toHaveLength(3);
    expect(await log.expire()).toBe(0);
  });

  it('adds to the steps of a store on PostgreSQL only', async () => {
    const clock = createFakeClock();
    expect(createSqlEventLog(await openSqlite(), { clock })).not.toHaveProperty('toAppend');
  });

  it.skipIf(POSTGRES_URL === undefined)('adds to a step of a store, once it has an effect', async () => {
    const clock = createFakeClock();
    const { database, close } = await POSTGRES.open();
    onTestFinished(close);
    await migrate(database, { collections: [EVENT_BATCHES] });
    const log = createSqlEventLog(database, { clock });
    const store = createSqlStore(database);
    const record = { id: 'a', stream: 'a', first: 1, last: 1, attempt: 1, events: '[]', expiresAt: 1 };
    const write = () => {
      const added = log.toAppend?.('s', { attempt: 1, after: 0, events: ['event'], keepMs: 1000 });
      return store.writeAll?.([
        writesTo(EVENT_BATCHES).insert(record),
        ...(added === undefined ? [] : [added]),
      ]);
    };
    const read = async () => (await log.read('s', 0))?.map(({ event }) => event);
    expect(await write()).toBe(true);
    expect(await read()).toEqual(['event']);
    await clock.advance(1000);
    expect(await log.expire()).toBe(1);
    expect(await write()).toBe(false);
    expect(await read()).toEqual([]);
  });
});
