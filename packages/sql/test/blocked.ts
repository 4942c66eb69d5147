import type { SqlDatabase } from '../src/index.ts';

/** Waits until a statement on a table waits for a lock. */
export async function untilBlocked(database: SqlDatabase, table: string): Promise<void> {
  const sql = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and position($1 in query) > 0`;
  for (let look = 0; look < 5000; look += 1) {
    if ((await database.run({ sql, parameters: [table] })).length > 0) return;
  }
  throw new Error('no statement waits for a lock');
}
