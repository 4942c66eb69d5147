import { createPostgresDatabase, type PostgresReplica } from '@questline/sql';
import type { Pool } from 'pg';
import { CliError } from '../cli-error.ts';
import type { Configuration } from '../environment/configuration.ts';
import type { Log } from '../log.ts';
import type { OpenDatabase } from './database.ts';
import { getReason } from './reasons.ts';

const CONNECT_MS = 5000;

type PostgresSettings = Omit<Configuration['postgres'], 'listen'> & {
  readonly url: string;
  readonly replicas: readonly string[] | undefined;
};

/** @throws CliError when the database is unreachable. Never quotes the URL, which contains a password. */
export async function openPostgres(
  { url, replicas = [], connections, prepare }: PostgresSettings,
  demo: boolean,
  log: Log,
  variable = 'DATABASE_URL',
): Promise<OpenDatabase> {
  const { default: pg } = await import('pg');
  const open = (connectionString: string): Pool => {
    const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: CONNECT_MS, max: connections });
    // Without a listener, an error on an idle connection would end the process.
    pool.on('error', (error) => log.warn({ error }, 'an idle database connection broke'));
    return pool;
  };
  const pool = open(url);
  try {
    const client = await pool.connect();
    client.release();
  } catch (error) {
    await pool.end();
    throw new CliError([`${variable}: ${getReason(error)}`]);
  }
  // They connect with the first read: a workspace starts and works without them.
  const readers = replicas.map((address) => toReplica(address, open(address), log));
  const database = createPostgresDatabase({
    pool,
    prepare,
    replicas: readers,
    ...(demo && { prefix: 'questline_demo_' }),
  });
  return {
    database,
    place: `PostgreSQL at ${toPlace(url)}`,
    async close() {
      await database.close();
      await Promise.all([pool, ...readers.map((reader) => reader.pool)].map((one) => one.end()));
    },
  };
}

function toReplica(url: string, pool: Pool, log: Log): PostgresReplica & { readonly pool: Pool } {
  const replica = toPlace(url);
  let isNew = true;
  return {
    pool,
    onState(state, error) {
      if (state === 'failed') log.warn({ replica, error }, 'a replica failed; the primary reads');
      // It may be behind for a moment at any time.
      if (state === 'used' && isNew) log.info({ replica }, 'a replica reads');
      isNew = state === 'failed' || (isNew && state === 'behind');
    },
  };
}

/** Without user and password. */
function toPlace(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
