import { createStoreEventLog, EVENT_BATCHES } from '@questline/core/internal';
import { type EngineWrite, writesTo } from '@questline/core/ports';
import { createFakeClock, eventLogSuite, fakeTime } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createSqlEventLog, createSqlStore } from '../src/index.ts';
import { ENGINES } from './engines.ts';
import { shareDatabase } from './shared.ts';

describe.each(ENGINES)('$name', (engine) => {
  const shared = shareDatabase(engine, [EVENT_BATCHES]);

  eventLogSuite({
    name: engine.name,
    create: async () => {
      const clock = createFakeClock();
      return {
        eventLog: createSqlEventLog(await shared.fresh(), { clock }),
        peers: [createSqlEventLog(shared.peer(), { clock })],
        time: fakeTime(clock),
      };
    },
  });

  eventLogSuite({
    name: `on the store of ${engine.name}`,
    create: async () => {
      const clock = createFakeClock();
      return {
        eventLog: createStoreEventLog({ store: createSqlStore(await shared.fresh()), clock }),
        peers: [createStoreEventLog({ store: createSqlStore(shared.peer()), clock })],
        time: fakeTime(clock),
      };
    },
  });

  it('adds a batch together with writes of the store, on PostgreSQL', async () => {
    const database = await shared.fresh();
    const clock = createFakeClock();
    const log = createSqlEventLog(database, { clock });
    const store = createSqlStore(database);
    expect(log.toAppend === undefined).toBe(database.dialect === 'sqlite');
    if (log.toAppend === undefined) return;
    const { toAppend } = log;
    const batch = (event: string, more: object = {}) => ({
      ...{ attempt: 2, after: 0, events: [event], keepMs: 1000 },
      ...more,
    });
    const writes = writesTo(EVENT_BATCHES);
    const record = (id: string) => ({
      ...{ id, stream: id, first: 1, last: 1, attempt: 1, events: '[]', expiresAt: 1 },
    });
    const write = (id: string, ...more: readonly EngineWrite[]) =>
      store.writeAll?.([writes.insert(record(id)), ...more]);
    const read = async (stream: string) => (await log.read(stream, 0))?.map(({ event }) => event);

    expect(await write('a', toAppend('quest', batch('first')))).toBe(true);
    expect(await log.append('quest', batch('second', { after: 1 }))).toMatchObject({ isAppended: true });
    // Each of these has another last event or a lower attempt.
    const refused = [batch('again'), batch('late', { attempt: 1, after: 2 }), batch('far', { after: 9 })];
    for (const [at, one] of refused.entries()) {
      expect(await write(`b${at}`, toAppend('quest', one))).toBe(true);
    }
    expect(await read('quest')).toEqual(['first', 'second']);
    // The record exists, so nothing of the step has an effect.
    expect(await write('a', toAppend('other', batch('first')))).toBe(false);
    expect(await read('other')).toEqual([]);
    expect(await store.collection(EVENT_BATCHES).count({})).toBe(4);
    await clock.advance(1000);
    expect(await log.expire()).toBe(1);
  });

  it('stores one row for a joined stream', async () => {
    const database = await shared.fresh();
    const log = createSqlEventLog(database, { clock: createFakeClock() });
    for (let after = 0; after < 50; after += 1) {
      await log.append('quest', { attempt: 1, after, events: ['event'], keepMs: 1000 });
    }
    const count = async () => {
      const sql = `select count(*) as batches from ${database.names.table('eventBatches')}`;
      const [row] = await database.run({ sql, parameters: [] });
      return Number(row?.batches);
    };

    expect(await count()).toBe(50);
    await log.compact('quest', 1000);

    expect(await count()).toBe(1);
  });
});
