import type { SqlConnection, SqlDatabase } from '../database.ts';
import { defineStatement } from '../statement.ts';

/** The existing columns and indexes of a table. */
export interface ExistingTable {
  /** The engine's type names, by column name. */
  readonly columns: ReadonlyMap<string, string>;
  readonly indexes: ReadonlySet<string>;
}

/** @returns undefined for a missing table. */
export async function describeTable(
  { dialect, names }: SqlDatabase,
  connection: SqlConnection,
  table: string,
): Promise<ExistingTable | undefined> {
  const values = { table, schema: names.schema };
  const columns = await connection.run(defineStatement(dialect, COLUMNS[dialect])(values));
  if (columns.length === 0) return undefined;
  const indexes = await connection.run(defineStatement(dialect, INDEXES[dialect])(values));
  return {
    columns: new Map(columns.map(({ name, type }) => [String(name), String(type).toLowerCase()])),
    indexes: new Set(indexes.map(({ name }) => String(name))),
  };
}

const COLUMNS = {
  // A generated column's type is listed with the words that make it one.
  sqlite: `select name, replace(lower(type), ' generated always', '') as type from pragma_table_xinfo(@table)`,
  postgres: `
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type
    from pg_attribute a
    join pg_class c on c.oid = a.attrelid
    join pg_namespace n on n.oid = c.relnamespace
    where c.relname = @table and n.nspname = coalesce(cast(@schema as text), current_schema())
      and a.attnum > 0 and not a.attisdropped`,
};

const INDEXES = {
  sqlite: `select name from sqlite_master where type = 'index' and tbl_name = @table`,
  postgres: `
    select indexname as name from pg_indexes
    where tablename = @table and schemaname = coalesce(cast(@schema as text), current_schema())`,
};
