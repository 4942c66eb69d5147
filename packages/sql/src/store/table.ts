import type { CollectionShape, ColumnType } from '@questline/core/ports';
import { quote, snakeCase } from '../names.ts';
import { type Fragment, sql } from './fragments.ts';

export interface Column {
  /** The field of the record. */
  readonly field: string;
  /** The column of the table. */
  readonly name: string;
  /** The name, ready for SQL text. */
  readonly ref: Fragment;
  readonly type: ColumnType;
}

/** The table of a collection. */
export interface Table {
  readonly collection: string;
  readonly columns: ReadonlyMap<string, Column>;
  readonly unique: readonly (readonly Column[])[];
  readonly indexes: readonly (readonly Column[])[];
}

const ID = toColumn('id', 'id', 'text');

/**
 * Reads a definition.
 * @throws TypeError for invalid column names, and for constraints on fields without a column.
 */
export function createTable(definition: CollectionShape): Table {
  const collection = definition.name;
  const columns = new Map<string, Column>([['id', ID]]);
  const taken = new Set(['id', 'record']);
  for (const [field, type] of Object.entries(definition.columns)) {
    if (type === undefined) continue;
    const name = snakeCase(field);
    if (taken.has(name)) throw new TypeError(`${collection}: the column name ${name} is taken`);
    taken.add(name);
    columns.set(field, toColumn(field, name, type));
  }
  const table = { collection, columns };
  const resolve = (fields: readonly string[]) => fields.map((field) => getColumn(table, field));
  const unique = definition.unique.map(resolve);
  if (unique.some((rule) => rule.length === 0 || rule.some(({ type }) => type === 'list'))) {
    throw new TypeError(`${collection}: a unique rule names fields, and no lists`);
  }
  return { ...table, unique, indexes: definition.indexes.map(resolve) };
}

function toColumn(field: string, name: string, type: ColumnType): Column {
  return { field, name, ref: sql.raw(quote(name)), type };
}

export function getColumn(table: Pick<Table, 'collection' | 'columns'>, field: string): Column {
  const column = table.columns.get(field);
  if (column === undefined) throw new TypeError(`${table.collection}: ${field} is not a column`);
  return column;
}

/**
 * Checks that the values of a record or patch have the types of their columns.
 * @throws TypeError that names the first invalid field.
 */
export function assertFits(table: Table, values: object): void {
  for (const [field, value] of Object.entries(values)) {
    const type = table.columns.get(field)?.type;
    if (type === undefined || value === undefined || value === null) continue;
    if (!FITS[type](value)) throw new TypeError(`${table.collection}.${field} is of type ${type}`);
  }
}

const FITS: { readonly [T in ColumnType]: (value: unknown) => boolean } = {
  text: (value) => typeof value === 'string',
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  list: (value) => Array.isArray(value) && value.every((member) => typeof member === 'string'),
};
