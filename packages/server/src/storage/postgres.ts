import { createPostgresDatabase } from '@questline/sql';
import { CliError } from '../cli-error.ts';
import type { Configuration } from '../environment/configuration.ts';
import type { Log } from '../log.ts';
import type { OpenDatabase } from './database.ts';
import { getReason } from './reasons.ts';

const CONNECT_MS = 5000;

/** @throws CliError when the database is unreachable. Never quotes the URL, which contains a password. */
export async function openPostgres(
  url: string,
  { connections, prepare }: Configuration['postgres'],
  demo: boolean,
  log: Log,
  variable = 'DATABASE_URL',
): Promise<OpenDatabase> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    max: connections,
  });
  // Without a listener, an error on an idle connection would end the process.
  pool.on('error', (error) => log.warn({ error }, 'an idle database connection broke'));
  try {
    const client = await pool.connect();
    client.release();
  } catch (error) {
    await pool.end();
    throw new CliError([`${variable}: ${getReason(error)}`]);
  }
  const database = createPostgresDatabase({ pool, prepare, ...(demo && { prefix: 'questline_demo_' }) });
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
