import { COLLECTIONS } from '@questline/core';
import { type MigrateOptions, type MigrationReport, migrate, type SqlDatabase } from '@questline/sql';
import type { Configuration } from '../environment/configuration.ts';
import type { Log } from '../log.ts';
import { Mistake } from '../mistake.ts';
import { DEPLOYMENT } from './deployment.ts';
import { openPostgres } from './postgres.ts';
import { reasonOf } from './reasons.ts';
import { openSqlite } from './sqlite.ts';

/** A database that answers. */
export interface OpenDatabase {
  readonly database: SqlDatabase;
  /** For the person at the terminal: where it is, without user or password. */
  readonly place: string;
  close(): Promise<void>;
}

export type DatabaseConfiguration = Pick<Configuration, 'databaseUrl' | 'storageDir'>;

/** @throws Mistake naming DATABASE_URL or STORAGE_DIR when it cannot be opened. */
export async function openDatabase(
  { databaseUrl, storageDir }: DatabaseConfiguration,
  demo: boolean,
  log: Log,
): Promise<OpenDatabase> {
  return databaseUrl === undefined ? openSqlite(storageDir, demo) : openPostgres(databaseUrl, demo, log);
}

/**
 * Brings a database forward to this version, or only tells how.
 * @throws Mistake naming DATABASE_URL when its user may not make tables.
 */
export async function migrateDatabase(
  database: SqlDatabase,
  dryRun: boolean,
  onStep: MigrateOptions['onStep'] = () => undefined,
): Promise<readonly MigrationReport[]> {
  try {
    return await migrate(database, { collections: [...COLLECTIONS, DEPLOYMENT], dryRun, onStep });
  } catch (error) {
    throw isForbidden(error) ? new Mistake([`DATABASE_URL: ${reasonOf(error)}`]) : error;
  }
}

/** PostgreSQL's codes for a user without the right to make tables, and for one without a place to make them in. */
function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '42501' || error.code === '3F000');
}
