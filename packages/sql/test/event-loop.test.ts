import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { SqlConnection } from '../src/database.ts';
import { createSqliteDatabase } from '../src/index.ts';

const ENOUGH_TURNS = 5;
/** A loop that gets no turns ends here. */
const MAX_STATEMENTS = 200_000;

/** Runs statements until the event loop has turned a few times. @returns the number of turns. */
async function loop(connection: SqlConnection): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = async (): Promise<void> => {
    for (; !isOver; turns += 1) await nextTurn();
  };
  const counting = count();
  for (let at = 0; at < MAX_STATEMENTS && turns < ENOUGH_TURNS; at += 1) {
    await connection.run({ sql: 'select 1 as one', parameters: [] });
  }
  const counted = turns;
  isOver = true;
  await counting;
  return counted;
}

describe('SQLite lets the event loop turn', () => {
  it('during a loop of statements', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    expect(await loop(database)).toBe(ENOUGH_TURNS);
    await database.close();
  });

  it('during a loop within a transaction', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    expect(await database.transaction(loop)).toBe(ENOUGH_TURNS);
    await database.close();
  });

  it('during a loop of transactions', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    const immediate = { run: async () => database.immediate(() => []) };
    expect(await loop(immediate)).toBe(ENOUGH_TURNS);
    await database.close();
  });

  it('during ten loops at once', async () => {
    const database = createSqliteDatabase({ path: ':memory:' });
    const turns = await Promise.all(Array.from({ length: 10 }, () => loop(database)));
    expect(Math.min(...turns)).toBeGreaterThanOrEqual(ENOUGH_TURNS);
    await database.close();
  });
});
