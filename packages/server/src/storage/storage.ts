import type { Clock, Ids, Publisher, RateLimiter, Store } from '@questline/core';
import { createSqlPorts, type SqlDatabase, type SqlPorts } from '@questline/sql';
import type { Configuration } from '../environment/configuration.ts';
import type { Log } from '../log.ts';
import { Mistake } from '../mistake.ts';
import { migrateDatabase, type OpenDatabase, openDatabase } from './database.ts';
import { DEPLOYMENT } from './deployment.ts';
import { openRedis } from './redis.ts';

/** Where everything is kept. */
export interface Storage {
  readonly ports: Omit<SqlPorts, 'limiter'> & {
    readonly limiter: RateLimiter;
    readonly publisher?: Publisher;
  };
  /** Present where Redis is used. */
  readonly pingRedis: (() => Promise<unknown>) | undefined;
  /** For the person at the terminal: where it is, without user or password. */
  readonly place: string;
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly configuration: Pick<Configuration, 'databaseUrl' | 'storageDir' | 'redisUrl'>;
  /** A demo's records stand apart from a workspace's, wherever both are kept. */
  readonly demo: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** What becomes of a database of an earlier version. Default: it is brought forward. */
  readonly outdated?: 'migrate' | 'refuse';
  /** Looks at a database that was begun before, ahead of everything that changes it. What it throws ends the opening. */
  readonly inspect?: (store: Store) => Promise<void>;
}

/**
 * Opens what the configuration names, and brings the database forward to this version.
 * @throws Mistake naming DATABASE_URL, STORAGE_DIR or REDIS_URL when one cannot be opened.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { configuration, demo, clock, ids, log, outdated = 'migrate', inspect } = options;
  const { redisUrl } = configuration;
  const shared = redisUrl === undefined ? undefined : await openRedis(redisUrl, demo, log);
  let opened: OpenDatabase | undefined;
  const close = async (): Promise<void> => {
    await opened?.close();
    await shared?.close();
  };
  try {
    opened = await openDatabase(configuration, demo, log);
    const { database, place } = opened;
    if (inspect !== undefined && (await wasBegun(database))) {
      await inspect(createSqlPorts(database, { clock, ids }).store);
    }
    const steps = await migrateDatabase(database, outdated === 'refuse');
    if (steps.length > 0 && outdated === 'refuse') {
      const name = configuration.databaseUrl === undefined ? 'STORAGE_DIR' : 'DATABASE_URL';
      throw new Mistake([`${name}: ${place} is not at this version; questline migrate brings it there`]);
    }
    if (steps.length > 0) log.info({ steps: steps.length }, 'migrated');
    const ports = createSqlPorts(database, { clock, ids, listen: database.dialect === 'postgres' });
    const { limiter, publisher } = shared ?? {};
    return {
      ports: { ...ports, ...(limiter && { limiter }), ...(publisher && { publisher }) },
      pingRedis: shared?.ping,
      place,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Whether the table is there that remembers what must stay the same. */
async function wasBegun(database: SqlDatabase): Promise<boolean> {
  const missing = await migrateDatabase(database, true);
  return !missing.some(({ name }) => name.startsWith(`collection ${DEPLOYMENT.name} `));
}
