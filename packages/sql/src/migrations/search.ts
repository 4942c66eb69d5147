import type { CollectionShape } from '@questline/core/ports';
import type { SqlConnection, SqlDatabase } from '../database.ts';
import { quote } from '../names.ts';
import { createTable, getColumn } from '../store/table.ts';
import { findSchema, isAvailable } from './extensions.ts';
import type { MigrationStep } from './migrate.ts';

const EXTENSION = 'pg_trgm';

/**
 * Indexes the parts of texts that `contains` searches, with PostgreSQL's extension pg_trgm. Every migration checks for the
 * extension until the server has it. Without it, and on SQLite, a search reads the whole table.
 */
export function searchSteps(database: SqlDatabase, definition: CollectionShape): MigrationStep[] {
  const { search = [] } = definition;
  if (database.dialect === 'sqlite' || search.length === 0) return [];
  const { names } = database;
  const columns = search.map((field) => getColumn(createTable(definition), field).name);
  return [
    {
      name: `search ${definition.name} ${search.join(' ')}`,
      applies: (connection: SqlConnection) => isAvailable(connection, EXTENSION),
      async plan(connection: SqlConnection) {
        const schema = await findSchema(connection, EXTENSION);
        const operators = `${schema === undefined ? '' : `${quote(schema)}.`}gin_trgm_ops`;
        return [
          // `if not exists` alone fails for one of two migrations of different schemas.
          `select pg_advisory_xact_lock(hashtextextended('${EXTENSION}', 0))`,
          `create extension if not exists ${EXTENSION}`,
          ...columns.map((column) => {
            const index = quote(names.index(definition.name, [column, 'search'], 'idx'));
            // The collation of the condition.
            return `create index if not exists ${index} on ${names.table(definition.name)} using gin ((${quote(column)} collate "default") ${operators})`;
          }),
        ];
      },
    },
  ];
}
