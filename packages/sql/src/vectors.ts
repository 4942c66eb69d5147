import type { VectorIndex } from '@questline/core/ports';
import type { SqlDatabase } from './database.ts';
import { createPostgresVectors } from './vectors/postgres.ts';
import { createSqliteVectors } from './vectors/sqlite.ts';

export interface SqlVectorsOptions {
  /**
   * PostgreSQL with pgvector only: a search over fewer chunks compares all of them; over more, it uses the
   * HNSW index. Default 10,000.
   */
  readonly exactBelow?: number;
}

/**
 * Chunks in separate tables; `migrate` creates them. SQLite compares every chunk in scope, page by page. PostgreSQL
 * uses an HNSW index with the extension pgvector, and compares every chunk without it.
 */
export function createSqlVectors(database: SqlDatabase, options: SqlVectorsOptions = {}): VectorIndex {
  return database.dialect === 'sqlite'
    ? createSqliteVectors(database)
    : createPostgresVectors(database, options);
}
