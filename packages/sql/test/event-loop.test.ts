import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { SqlConnection } from '../src/database.ts';
import { createSqliteDatabase } from '../src/index.ts';

/** Counts turns of the event loop until `work` ends. */
async function countTurns(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    turns += 1;
  }
  await end;
  return turns;
}

/** A loop of statements that lasts about 200 ms. */
async function loop(connection: SqlConnection): Promise<void> {
  const end = performance.now() + 200;
  while (performance.now() < end) await connection.run({ sql: 'select 1 as one', parameters: [] });
}

describe('SQLite lets the event loop turn', () => {
  it('during a loop of statements', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    expect(await countTurns(loop(database))).toBeGreaterThan(3);
    await database.close();
  });

  it('during a loop within a transaction', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    expect(await countTurns(database.transaction(loop))).toBeGreaterThan(3);
    await database.close();
  });

  it('during a loop of transactions', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    const immediate = { run: async () => database.immediate(() => []) };
    expect(await countTurns(loop(immediate))).toBeGreaterThan(3);
    await database.close();
  });

  it('during ten loops at once', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    const callers = Promise.all(Array.from({ length: 10 }, () => loop(database)));
    expect(await countTurns(callers)).toBeGreaterThan(3);
    await database.close();
  });
});
