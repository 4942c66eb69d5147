import type { CallOptions } from '@questline/core';
import type { SqlNames } from './names.ts';
import type { Listen } from './postgres/listen.ts';
import type { SqlRow, SqlStatement } from './statement.ts';

export type SqlDialect = 'sqlite' | 'postgres';

export interface RunOptions extends CallOptions {
  /** Milliseconds until the call gives up with a `StorageUnavailable`. Default: the handle's. */
  readonly timeoutMs?: number | undefined;
}

export interface TransactionOptions extends RunOptions {
  /** PostgreSQL only; SQLite has one writer at a time, which is as strict. Default `serializable`. */
  readonly isolation?: 'serializable' | 'read committed';
}

/** A connection in the hands of one piece of work. */
export interface SqlConnection {
  run(statement: SqlStatement): Promise<readonly SqlRow[]>;
}

interface Database {
  readonly names: SqlNames;
  /** One statement, by itself: it takes effect whole or not at all. A signal counts until the statement is on its way. */
  run(statement: SqlStatement, options?: RunOptions): Promise<readonly SqlRow[]>;
  /**
   * Everything `work` does takes effect together, or not at all when it rejects or when any of its statements failed.
   * Run again, up to the time limit, when the engine reports a conflict with another transaction.
   */
  transaction<T>(work: (connection: SqlConnection) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Ends what the handle itself opened, and nothing else. */
  close(): Promise<void>;
}

/** One statement at a time, with its answer at once. */
export type RunNow = (statement: SqlStatement) => readonly SqlRow[];

export interface SqliteDatabase extends Database {
  readonly dialect: 'sqlite';
  /** A transaction that begins, works and ends without letting go of the event loop: the cheapest one SQLite has. */
  immediate<T>(work: (run: RunNow) => T, options?: RunOptions): Promise<T>;
}

export interface PostgresDatabase extends Database {
  readonly dialect: 'postgres';
  /** Only with a pool. */
  readonly listen?: Listen;
}

/** Where everything of this package lives: made by `createSqliteDatabase` or `createPostgresDatabase`. */
export type SqlDatabase = SqliteDatabase | PostgresDatabase;
