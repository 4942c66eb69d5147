import type { Clock, Ids, Publisher, Store } from '@questline/core/ports';
import {
  createShardDirectory,
  createSqlPorts,
  SHARD_PLACEMENTS,
  type SqlDatabase,
  type SqlPorts,
  shard,
} from '@questline/sql';
import { CliError } from '../cli-error.ts';
import type { Configuration } from '../environment/configuration.ts';
import { HOME_SHARD } from '../environment/forms.ts';
import type { Log } from '../log.ts';
import { migrateDatabase, type OpenShard, openShards } from './database.ts';
import { keepShardName } from './deployment.ts';

/** All databases of a workspace with shards, by name. */
export type Databases = Readonly<Record<string, SqlDatabase>>;

export interface ShardedStorage {
  readonly ports: SqlPorts;
  readonly databases: Databases;
  close(): Promise<void>;
}

export interface ShardedStorageOptions {
  readonly configuration: Pick<Configuration, 'shards' | 'replicas' | 'postgres'>;
  readonly home: { readonly database: SqlDatabase; readonly ports: SqlPorts };
  readonly demo: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publisher: Publisher | undefined;
  readonly log: Log;
  readonly outdated: 'migrate' | 'refuse';
}

/**
 * Opens the further databases. The database of DATABASE_URL is the home database, and the shard of every owner that was
 * not moved.
 * @throws CliError that names DATABASE_SHARDS.
 */
export async function openSharded(options: ShardedStorageOptions): Promise<ShardedStorage> {
  const { configuration, home, demo, clock, ids, publisher, log, outdated } = options;
  const opened = await openShards(configuration, demo, log);
  const close = async (): Promise<void> => {
    await Promise.all(opened.map((one) => one.close()));
  };
  try {
    const listen = configuration.postgres.listen;
    const shards: Record<string, SqlPorts> = { [HOME_SHARD]: home.ports };
    await keepShardName(home.ports.store, HOME_SHARD);
    for (const one of opened) {
      await migrateShard(one, outdated, log);
      const ports = createSqlPorts(one.database, { clock, ids, listen, publisher });
      await keepShardName(ports.store, one.name);
      shards[one.name] = ports;
    }
    // Owners that have records and no placement yet are at home, so every owner begins there.
    const directory = createShardDirectory({ store: home.ports.store, shards: [HOME_SHARD] });
    const { limiter, ...ports } = shard({ home: home.ports, shards, directory, clock });
    return {
      ports: { ...home.ports, ...ports, limiter: { ...limiter, sweep: sweepAll(Object.values(shards)) } },
      databases: {
        [HOME_SHARD]: home.database,
        ...Object.fromEntries(opened.map(({ name, database }) => [name, database])),
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws CliError when owners are in databases that are not configured: their data would seem lost. */
export async function assertShardsKnown(
  store: Store,
  configured: Configuration['shards'] = {},
): Promise<void> {
  const placements = store.collection(SHARD_PLACEMENTS);
  const missing: string[] = [];
  for (let last = ''; ; ) {
    const order = { field: 'shard', direction: 'asc' } as const;
    const [next] = await placements.find({ shard: { gt: last } }, { order, limit: 1 });
    if (next === undefined) break;
    last = next.shard;
    if (last !== HOME_SHARD && !Object.hasOwn(configured, last)) missing.push(last);
  }
  if (missing.length === 0) return;
  throw new CliError(
    missing.map((name) => `DATABASE_SHARDS: ${name} is missing, but owners are in this database`),
  );
}

function sweepAll(shards: readonly SqlPorts[]): SqlPorts['limiter']['sweep'] {
  return async (...args) => {
    const counts = await Promise.all(shards.map(({ limiter }) => limiter.sweep(...args)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
}

async function migrateShard(
  { name, place, database }: OpenShard,
  outdated: 'migrate' | 'refuse',
  log: Log,
): Promise<void> {
  const steps = await migrateDatabase(database, outdated === 'refuse');
  if (steps.length === 0) return;
  if (outdated === 'refuse') {
    throw new CliError([`DATABASE_SHARDS: ${name}: ${place} is not at this version; run questline migrate`]);
  }
  log.info({ shard: name, steps: steps.length }, 'migrated');
}
