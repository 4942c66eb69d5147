import pg from 'pg';
import { createPostgresDatabase, createSqliteDatabase, type SqlDatabase } from '../src/index.ts';
import type { EngineAddress } from './engines.ts';

/** Opens a database by its address, as a separate process does. */
export function connect(address: EngineAddress): { database: SqlDatabase; close(): Promise<void> } {
  if (address.dialect === 'sqlite') {
    const database = createSqliteDatabase({ path: address.path, timeoutMs: 20_000 });
    return { database, close: () => database.close() };
  }
  const pool = new pg.Pool({ connectionString: address.url, max: 5, connectionTimeoutMillis: 20_000 });
  const database = createPostgresDatabase({ pool, schema: address.schema, timeoutMs: 20_000 });
  return {
    database,
    async close() {
      await database.close();
      await pool.end();
    },
  };
}
