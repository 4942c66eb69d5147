import type pg from 'pg';
import type { PostgresPool } from '../src/index.ts';

/** A pool that adds the text of each statement to a list. @param before runs before each of them. */
export function recordPool(
  pool: pg.Pool,
  statements: string[],
  before: (text: string) => unknown = () => undefined,
): PostgresPool {
  return {
    async connect() {
      const client = await pool.connect();
      return {
        async query(config) {
          statements.push(config.text);
          await before(config.text);
          return client.query(config as pg.QueryConfig);
        },
        release: (destroy) => client.release(destroy),
      };
    },
  };
}
