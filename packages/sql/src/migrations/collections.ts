import type { CollectionShape } from '@questline/core/ports';
import type { SqlConnection, SqlDatabase, SqlDialect } from '../database.ts';
import { type IndexKind, quote, type SqlNames } from '../names.ts';
import { fingerprint } from '../statement.ts';
import { type Column, createTable, type Table } from '../store/table.ts';
import { describeTable, type ExistingTable } from './existing.ts';
import { createListMembers } from './list-members.ts';
import type { MigrationStep } from './migrate.ts';

/**
 * One step per definition: it creates what the database lacks, and drops nothing but an index that it replaces. A
 * changed definition is a new step; an unchanged one is complete.
 */
export function collectionStep(database: SqlDatabase, definition: CollectionShape): MigrationStep {
  const table = createTable(definition);
  const { columns, unique, indexes } = definition;
  const sorted = Object.entries(columns).sort(([a], [b]) => (a < b ? -1 : 1));
  // Databases of versions that indexed lists in another way have the name without this mark.
  const mark = database.dialect === 'sqlite' ? 'members' : 'lists';
  const shape = [sorted, unique, indexes, ...(listColumns(table).length > 0 ? [mark] : [])];
  return {
    name: `collection ${definition.name} ${fingerprint(JSON.stringify(shape))}`,
    async plan(connection: SqlConnection) {
      const existing = await describeTable(database, connection, database.names.plain(table.collection));
      return planTable(database.dialect, database.names, table, existing);
    },
  };
}

/** The statements that create a table, or extend it to a definition. */
function planTable(
  dialect: SqlDialect,
  names: SqlNames,
  table: Table,
  existing: ExistingTable | undefined,
): string[] {
  const name = names.table(table.collection);
  const columns = [...table.columns.values()].filter((column) => column.name !== 'id');
  const statements: string[] = [];
  if (existing === undefined) {
    const fields = columns.map((column) => defineColumn(column, dialect, 'stored'));
    const types = dialect === 'sqlite' ? ['text', 'text'] : ['text collate "C"', 'jsonb'];
    const own = [`id ${types[0]} not null primary key`, `record ${types[1]} not null`];
    statements.push(`create table ${name} (${[...own, ...fields].join(', ')})`);
  } else {
    for (const column of columns) {
      const type = existing.columns.get(column.name);
      const wanted = typeOf(column, dialect);
      if (type === undefined) {
        statements.push(`alter table ${name} add column ${defineColumn(column, dialect, 'added')}`);
      } else if (type !== wanted) {
        throw new Error(
          `${names.plain(table.collection)}.${column.name} is ${type} in the database and ${wanted} in the definition of ` +
            `${table.collection}: a column's type cannot change, give the field a new name`,
        );
      }
    }
  }
  for (const index of listIndexes(table, dialect)) {
    const indexName = names.index(table.collection, index.fields, index.kind);
    if (existing?.indexes.has(indexName)) continue;
    const how = index.kind === 'key' ? 'create unique index' : 'create index';
    const method = index.kind === 'list' ? ' using gin' : '';
    const where = index.where === undefined ? '' : ` where ${index.where}`;
    statements.push(`${how} ${quote(indexName)} on ${name}${method} (${index.parts.join(', ')})${where}`);
    // The index of older versions, which had an entry for each record without a list.
    const former = names.index(table.collection, index.fields, 'idx');
    if (index.kind === 'list' && existing?.indexes.has(former)) statements.push(dropIndex(names, former));
  }
  if (dialect === 'sqlite') {
    for (const column of listColumns(table)) {
      statements.push(...createListMembers(names, table.collection, column));
    }
  }
  return statements;
}

function dropIndex({ schema }: SqlNames, index: string): string {
  return `drop index ${schema === undefined ? '' : `${quote(schema)}.`}${quote(index)}`;
}

function listColumns(table: Table): Column[] {
  return [...table.columns.values()].filter(({ type }) => type === 'list');
}

interface Index {
  readonly fields: readonly string[];
  readonly kind: IndexKind;
  readonly parts: readonly string[];
  /** Which records it has. Default: all. */
  readonly where?: string;
}

function listIndexes(table: Table, dialect: SqlDialect): Index[] {
  const found = new Map<string, Index>();
  const add = (index: Index) => found.set(`${index.fields.join()} ${index.kind}`, index);
  for (const rule of table.unique) {
    add({ kind: 'key', fields: rule.map(({ field }) => field), parts: rule.map(({ name }) => quote(name)) });
  }
  for (const asked of table.indexes) {
    // Queries search for members of a list, which a sorted index does not support.
    const sorted = asked.filter(({ type }) => type !== 'list');
    if (sorted.length === 0) continue;
    const order = sorted.at(-1)?.name === 'id' ? sorted : [...sorted, ID];
    const nulls = dialect === 'sqlite' ? '' : ' nulls first';
    const parts = order.map(({ name }) => (name === 'id' ? 'id' : `${quote(name)}${nulls}`));
    add({ kind: 'idx', fields: sorted.map(({ field }) => field), parts });
  }
  if (dialect === 'postgres') {
    for (const { field, name, type } of table.columns.values()) {
      if (type === 'list') {
        const parts = [`${quote(name)} jsonb_path_ops`];
        add({ kind: 'list', fields: [field], parts, where: `${quote(name)} is not null` });
      }
    }
  }
  return [...found.values()];
}

const ID = { name: 'id' };

const TYPES = {
  sqlite: { text: 'text', integer: 'integer', boolean: 'integer', list: 'text' },
  postgres: { text: 'text', integer: 'bigint', boolean: 'boolean', list: 'jsonb' },
} as const;

function typeOf(column: Column, dialect: SqlDialect): string {
  return TYPES[dialect][column.type];
}

/**
 * A generated column: it always agrees with the record, existing rows get its value when it is added,
 * and writes of an older version update it, too.
 */
function defineColumn(column: Column, dialect: SqlDialect, when: 'stored' | 'added'): string {
  const { field, name, type } = column;
  const sqlType = typeOf(column, dialect);
  const key = field.replaceAll("'", "''");
  if (dialect === 'sqlite') {
    // SQLite cannot add stored columns to an existing table: later ones are virtual, or stored by an index.
    const keep = when === 'stored' ? 'stored' : 'virtual';
    return `${quote(name)} ${sqlType} generated always as (json_extract(record, '$."${key}"')) ${keep}`;
  }
  const value =
    type === 'list'
      ? `record -> '${key}'`
      : type === 'text'
        ? `record ->> '${key}'`
        : `(record ->> '${key}')::${sqlType}`;
  const collation = type === 'text' ? ' collate "C"' : '';
  return `${quote(name)} ${sqlType}${collation} generated always as (${value}) stored`;
}
