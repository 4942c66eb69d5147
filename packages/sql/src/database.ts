import type { CallOptions } from '@questline/core/ports';
import type { SqlNames } from './names.ts';
import type { Listen } from './postgres/listen.ts';
import type { SqlRow, SqlStatement } from './statement.ts';

export type SqlDialect = 'sqlite' | 'postgres';

export interface RunOptions extends CallOptions {
  /** Milliseconds until the call gives up with a `StorageUnavailable`. Default: the handle's. */
  readonly timeoutMs?: number | undefined;
}

export interface TransactionOptions extends RunOptions {
  /** PostgreSQL only; SQLite is always serializable, because it has one writer at a time. Default `serializable`. */
  readonly isolation?: 'serializable' | 'read committed';
}

/** A connection that one transaction uses exclusively. */
export interface SqlConnection {
  run(statement: SqlStatement): Promise<readonly SqlRow[]>;
}

interface Database {
  readonly names: SqlNames;
  /** Runs one atomic statement. A signal has an effect until the statement is sent. */
  run(statement: SqlStatement, options?: RunOptions): Promise<readonly SqlRow[]>;
  /**
   * Runs `work` in a transaction, which rolls back if `work` rejects or any of its statements fails.
   * Retries until the time limit when the engine reports a conflict with another transaction.
   */
  transaction<T>(work: (connection: SqlConnection) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Closes only what the handle has opened. */
  close(): Promise<void>;
}

/** Runs one statement synchronously. */
export type RunNow = (statement: SqlStatement) => readonly SqlRow[];

export interface SqliteDatabase extends Database {
  readonly dialect: 'sqlite';
  /** A synchronous transaction: the cheapest kind in SQLite. */
  immediate<T>(work: (run: RunNow) => T, options?: RunOptions): Promise<T>;
}

export interface PostgresDatabase extends Database {
  readonly dialect: 'postgres';
  /** Milliseconds until a call gives up. */
  readonly timeoutMs: number;
  /** Only with a pool. */
  readonly listen?: Listen;
  /** Runs one statement that only reads, with every commit that was made before the call. Only with replicas. */
  readonly read?: Database['run'];
}

/** The database handle of this package: created by `createSqliteDatabase` or `createPostgresDatabase`. */
export type SqlDatabase = SqliteDatabase | PostgresDatabase;

/** How to run a statement that only reads. */
export function getRead(database: SqlDatabase): Database['run'] {
  return (database.dialect === 'postgres' ? database.read : undefined) ?? database.run;
}
