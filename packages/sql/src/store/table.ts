import type { CollectionShape, ColumnType } from '@questline/core';
import { snakeCase } from '../names.ts';

export interface Column {
  /** As the record calls it. */
  readonly field: string;
  /** As the table calls it. */
  readonly name: string;
  readonly type: ColumnType;
}

/** A collection as a table. */
export interface Table {
  readonly collection: string;
  readonly columns: ReadonlyMap<string, Column>;
  readonly unique: readonly (readonly Column[])[];
  readonly indexes: readonly (readonly Column[])[];
}

const ID: Column = { field: 'id', name: 'id', type: 'text' };

/**
 * Reads a definition.
 * @throws TypeError for names that cannot be columns, and for rules over fields that are none.
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
    columns.set(field, { field, name, type });
  }
  const table = { collection, columns };
  const resolve = (fields: readonly string[]) => fields.map((field) => columnOf(table, field));
  const unique = definition.unique.map(resolve);
  if (unique.some((rule) => rule.length === 0 || rule.some(({ type }) => type === 'list'))) {
    throw new TypeError(`${collection}: a unique rule names fields, and no lists`);
  }
  return { ...table, unique, indexes: definition.indexes.map(resolve) };
}

export function columnOf(table: Pick<Table, 'collection' | 'columns'>, field: string): Column {
  const column = table.columns.get(field);
  if (column === undefined) throw new TypeError(`${table.collection}: ${field} is no column`);
  return column;
}

/**
 * Whether a record's or a patch's values fit into their columns.
 * @throws TypeError naming the first that does not.
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
