import { createStoreEventLog, EVENT_BATCHES } from '@questline/core/internal';
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
