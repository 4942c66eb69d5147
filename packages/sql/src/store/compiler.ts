import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SqlDialect } from '../database.ts';

/** Every table of a collection begins with these; its columns are added by the definition. */
export interface CollectionRow {
  readonly id: string;
  /** The whole record, as JSON. */
  readonly record: unknown;
}

/**
 * Kysely as the one who writes the SQL. It runs nothing: time limits, lost connections and prepared statements are ours,
 * see docs/decisions/sql.md.
 */
export function createCompiler(dialect: SqlDialect): Kysely<Record<string, CollectionRow>> {
  return new Kysely({
    dialect: {
      createDriver: () => new DummyDriver(),
      ...(dialect === 'sqlite'
        ? {
            createAdapter: () => new SqliteAdapter(),
            createIntrospector: (db) => new SqliteIntrospector(db),
            createQueryCompiler: () => new SqliteQueryCompiler(),
          }
        : {
            createAdapter: () => new PostgresAdapter(),
            createIntrospector: (db) => new PostgresIntrospector(db),
            createQueryCompiler: () => new PostgresQueryCompiler(),
          }),
    },
  });
}
