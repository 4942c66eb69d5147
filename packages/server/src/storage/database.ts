import { COLLECTIONS } from '@questline/core';
import {
  type MigrateOptions,
  type MigrationReport,
  migrate,
  SHARD_COLLECTIONS,
  type SqlDatabase,
} from '@questline/sql';
import { CliError } from '../cli-error.ts';
import type { Configuration } from '../environment/configuration.ts';
import { HOME_SHARD } from '../environment/forms.ts';
import type { Log } from '../log.ts';
import { DEPLOYMENT } from './deployment.ts';
import { openPostgres } from './postgres.ts';
import { getReason } from './reasons.ts';
import { openSqlite } from './sqlite.ts';

/** An open database connection. */
export interface OpenDatabase {
  readonly database: SqlDatabase;
  /** The location, without user or password. */
  readonly place: string;
  close(): Promise<void>;
}

export type DatabaseConfiguration = Pick<
  Configuration,
  'databaseUrl' | 'replicas' | 'postgres' | 'storageDir'
>;

/** @throws CliError that names DATABASE_URL or STORAGE_DIR when it cannot be opened. */
export async function openDatabase(
  { databaseUrl, replicas = {}, postgres, storageDir }: DatabaseConfiguration,
  demo: boolean,
  log: Log,
): Promise<OpenDatabase> {
  return databaseUrl === undefined
    ? openSqlite(storageDir, demo)
    : openPostgres({ url: databaseUrl, replicas: replicas[HOME_SHARD], ...postgres }, demo, log);
}

/** A further database. */
export interface OpenShard extends OpenDatabase {
  readonly name: string;
}

/** @throws CliError that names DATABASE_SHARDS and the shard when one cannot be opened. */
export async function openShards(
  { shards = {}, replicas = {}, postgres }: Pick<Configuration, 'shards' | 'replicas' | 'postgres'>,
  demo: boolean,
  log: Log,
): Promise<readonly OpenShard[]> {
  const opened: OpenShard[] = [];
  try {
    for (const [name, url] of Object.entries(shards)) {
      const address = { url, replicas: replicas[name], ...postgres };
      opened.push({ name, ...(await openPostgres(address, demo, log, `DATABASE_SHARDS: ${name}`)) });
    }
  } catch (error) {
    await Promise.all(opened.map(({ close }) => close()));
    throw error;
  }
  return opened;
}

/**
 * Migrates a database to this version, or only lists the pending steps.
 * @throws CliError that names DATABASE_URL when its user may not create tables.
 */
export async function migrateDatabase(
  database: SqlDatabase,
  dryRun: boolean,
  onStep: MigrateOptions['onStep'] = () => undefined,
): Promise<readonly MigrationReport[]> {
  try {
    return await migrate(database, {
      collections: [...COLLECTIONS, ...SHARD_COLLECTIONS, DEPLOYMENT],
      dryRun,
      onStep,
    });
  } catch (error) {
    throw isForbidden(error) ? new CliError([`DATABASE_URL: ${getReason(error)}`]) : error;
  }
}

/** PostgreSQL error codes: missing permission to create tables, and missing schema. */
function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '42501' || error.code === '3F000');
}
