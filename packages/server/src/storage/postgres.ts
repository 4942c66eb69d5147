import { createPostgresDatabase } from '@questline/sql';
import type { Log } from '../log.ts';
import { Mistake } from '../mistake.ts';
import type { OpenDatabase } from './database.ts';
import { reasonOf } from './reasons.ts';

const CONNECT_MS = 5000;

/** @throws Mistake when the database cannot be reached. The URL, which holds a password, is never quoted. */
export async function openPostgres(url: string, demo: boolean, log: Log): Promise<OpenDatabase> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  // Without a listener, an idle connection that breaks would end the process.
  pool.on('error', (error) => log.warn({ error }, 'an idle database connection broke'));
  try {
    const client = await pool.connect();
    client.release();
  } catch (error) {
    await pool.end();
    throw new Mistake([`DATABASE_URL: ${reasonOf(error)}`]);
  }
  const database = createPostgresDatabase({ pool, ...(demo && { prefix: 'questline_demo_' }) });
  const { host, pathname } = new URL(url);
  return {
    database,
    place: `PostgreSQL at ${host}${pathname}`,
    async close() {
      await database.close();
      await pool.end();
    },
  };
}
