import type { Clock, Ids, Publisher, RateLimiter, Store } from '@questline/core/ports';
import { createSqlPorts, type SqlDatabase, type SqlPorts } from '@questline/sql';
import { CliError } from '../cli-error.ts';
import type { Configuration } from '../environment/configuration.ts';
import type { Log } from '../log.ts';
import { migrateDatabase, type OpenDatabase, openDatabase } from './database.ts';
import { DEPLOYMENT } from './deployment.ts';
import { openRedis } from './redis.ts';
import { assertShardsKnown, type Databases, openSharded, type ShardedStorage } from './shards.ts';

/** The open storage of a workspace. */
export interface Storage {
  readonly ports: Omit<SqlPorts, 'limiter'> & {
    readonly limiter: RateLimiter;
    readonly publisher?: Publisher;
  };
  /** Present if Redis is used. */
  readonly pingRedis: (() => Promise<unknown>) | undefined;
  /** The location, without user or password. */
  readonly place: string;
  /** All databases by name. Absent: there is one. */
  readonly databases?: Databases;
  close(): Promise<void>;
}

export interface StorageOptions {
  readonly configuration: Pick<
    Configuration,
    'databaseUrl' | 'shards' | 'replicas' | 'postgres' | 'storageDir' | 'redisUrl'
  >;
  /** The demo uses separate names, wherever its data is stored. */
  readonly demo: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** What to do with a database of an earlier version. Default: migrate it. */
  readonly outdated?: 'migrate' | 'refuse';
  /** Checks an existing database before anything changes it. An error aborts the opening. */
  readonly inspect?: (store: Store) => Promise<void>;
}

/**
 * Opens the configured storage, and migrates the database to this version.
 * @throws CliError that names DATABASE_URL, STORAGE_DIR or REDIS_URL when one cannot be opened.
 */
export async function openStorage(options: StorageOptions): Promise<Storage> {
  const { configuration, demo, clock, ids, log, outdated = 'migrate', inspect } = options;
  const { redisUrl } = configuration;
  const shared = redisUrl === undefined ? undefined : await openRedis(redisUrl, demo, log);
  let opened: OpenDatabase | undefined;
  let sharded: ShardedStorage | undefined;
  const close = async (): Promise<void> => {
    await sharded?.close();
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
      throw new CliError([`${name}: ${place} is not at this version; run questline migrate`]);
    }
    if (steps.length > 0) log.info({ steps: steps.length }, 'migrated');
    const { limiter, publisher } = shared ?? {};
    const home = createSqlPorts(database, {
      clock,
      ids,
      listen: database.dialect === 'postgres' && configuration.postgres.listen,
      publisher,
    });
    await assertShardsKnown(home.store, configuration.shards);
    if (configuration.shards !== undefined) {
      const given = { configuration, demo, clock, ids, publisher, log, outdated };
      sharded = await openSharded({ ...given, home: { database, ports: home } });
    }
    const ports = sharded?.ports ?? home;
    return {
      ...(sharded !== undefined && { databases: sharded.databases }),
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

/** Whether the table of the deployment record exists. */
async function wasBegun(database: SqlDatabase): Promise<boolean> {
  const missing = await migrateDatabase(database, true);
  return !missing.some(({ name }) => name.startsWith(`collection ${DEPLOYMENT.name} `));
}
