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

/** The common columns of all collection tables; the definition adds others. */
export interface CollectionRow {
  readonly id: string;
  /** The whole record, as JSON. */
  readonly record: unknown;
}

/**
 * Kysely compiles the SQL but does not run it: this package handles timeouts, lost connections and prepared statements,
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
