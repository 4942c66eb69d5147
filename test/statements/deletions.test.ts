import { setImmediate as nextTurn } from 'node:timers/promises';
import { COLLECTIONS } from '@questline/core';
import { IDEMPOTENCY, MESSAGES, SESSIONS, STORAGE_USAGE } from '@questline/core/internal';
import type { CollectionShape } from '@questline/core/ports';
import {
  createSqliteDatabase,
  createSqlQueue,
  createSqlStore,
  migrate,
  type SqlDatabase,
} from '@questline/sql';
import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createTestApp, NOW, type TestApp } from '../support/test-app.ts';

const RECORDS = 50_000;
const JOBS = 2000;
const ENOUGH_TURNS = 5;

/** Runs the work on an app in SQLite. @returns the number of turns of the event loop meanwhile. */
async function countTurns(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = async (): Promise<void> => {
    for (; !isOver; turns += 1) await nextTurn();
  };
  const counting = count();
  await work();
  isOver = true;
  await counting;
  return turns;
}

/** The database generates the records. @param record SQL text of the JSON of record `i`. */
async function fill(database: SqlDatabase, { name }: CollectionShape, record: string): Promise<void> {
  await database.run({
    sql: `insert into ${database.names.table(name)} (id, record)
      with recursive n(i) as (select 0 union all select i + 1 from n where i < ${RECORDS - 1})
      select printf('%024x', i), json_object('id', printf('%024x', i), ${record}) from n`,
    parameters: [],
  });
}

async function openApp(): Promise<{ app: TestApp; database: SqlDatabase }> {
  const database = createSqliteDatabase({ path: ':memory:' });
  await migrate(database, { collections: COLLECTIONS });
  const app = await createTestApp({
    store: () => createSqlStore(database),
    key: { scopes: ['notebooks:read', 'notebooks:write'] },
    settings: { worker: { pollMs: 60_000 } },
  });
  return { app, database };
}

describe('SQLite lets the event loop turn', () => {
  it('while a session of 50,000 messages is deleted, and gives its quota back', async () => {
    const { app, database } = await openApp();
    const { store } = app.services;
    const created = await app.ask('POST', '/api/v1/sessions', { body: { name: 'Long' } });
    const { id } = (await created.json()) as { id: string };
    const ownerId = app.user.id;
    await fill(
      database,
      MESSAGES,
      `'sessionId', '${id}', 'ownerId', '${ownerId}', 'role', 'user', 'content', 'Hi', 'createdAt', i, 'bytes', 300`,
    );
    const usage = store.collection(STORAGE_USAGE);
    await usage.add(`${ownerId}:sessions`, { bytes: RECORDS * 300 });
    await app.api.start();
    expect(
      (await app.ask('DELETE', `/api/sessions/${id}`, { credential: await app.token() })).status,
    ).toBeLessThan(300);
    const turns = await countTurns(async () => {
      const messages = store.collection(MESSAGES);
      await app.clock.advance(1000);
      while ((await messages.count({})) > 0) await app.settle();
    });
    expect(turns).toBeGreaterThan(ENOUGH_TURNS);
    expect(await store.collection(SESSIONS).count({})).toBe(0);
    expect(await usage.get(`${ownerId}:sessions`)).toMatchObject({ bytes: 0 });
    await app.api.close();
    await database.close();
  });

  it('while 50,000 expired idempotency keys are deleted', async () => {
    const { app, database } = await openApp();
    await fill(database, IDEMPOTENCY, `'bodyHash', 'x', 'answer', '{}', 'expiresAt', ${NOW - 1}`);
    const turns = await countTurns(() => app.services.idempotency.sweep());
    expect(turns).toBeGreaterThan(ENOUGH_TURNS);
    expect(await app.services.store.collection(IDEMPOTENCY).count({})).toBe(0);
    await app.api.close();
    await database.close();
  });

  it('while 2,000 jobs are drained', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    await migrate(database, { collections: [] });
    const queue = createSqlQueue(database, { clock: createFakeClock(NOW), ids: createFakeIds() });
    for (let job = 0; job < JOBS; job += 1) {
      await queue.enqueue({ kind: 'count', key: `job ${job}`, owner: `owner ${job % 10}`, payload: null });
    }
    let drained = 0;
    const turns = await countTurns(async () => {
      for (;;) {
        const jobs = await queue.lease({ kinds: ['count'], limit: 20, leaseMs: 60_000 });
        if (jobs.length === 0) return;
        for (const job of jobs) drained += Number(await queue.finish(job));
      }
    });
    expect(drained).toBe(JOBS);
    expect(turns).toBeGreaterThan(ENOUGH_TURNS);
    await database.close();
  });
});
