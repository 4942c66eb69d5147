import type { VectorIndex } from '@questline/core';
import type { SqlDatabase } from './database.ts';
import { createPostgresVectors } from './vectors/postgres.ts';
import { createSqliteVectors } from './vectors/sqlite.ts';

export interface SqlVectorsOptions {
  /**
   * PostgreSQL with pgvector only: a search over fewer chunks than this compares all of them; over more, it follows the
   * HNSW index. Default 10,000.
   */
  readonly exactBelow?: number;
}

/**
 * Chunks in tables of their own; `migrate` makes them. SQLite compares every chunk in scope, read page by page. PostgreSQL
 * follows an HNSW index where the extension pgvector is there, and compares every chunk where it is not.
 */
export function createSqlVectors(database: SqlDatabase, options: SqlVectorsOptions = {}): VectorIndex {
  return database.dialect === 'sqlite'
    ? createSqliteVectors(database)
    : createPostgresVectors(database, options);
}
