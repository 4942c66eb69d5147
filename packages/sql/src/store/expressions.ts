import type { SqlDialect } from '../database.ts';
import { getMembersTable } from '../migrations/list-members.ts';
import type { SqlNames } from '../names.ts';
import { type Fragment, sql } from './fragments.ts';
import { storable, toJsonText } from './json.ts';
import type { Column, Table } from './table.ts';

/** The expressions that differ between the two engines. */
export interface DialectExpressions {
  /** A JSON parameter. */
  json(value: unknown): Fragment;
  /** A text parameter. */
  text(value: string): string;
  /** The record with some fields replaced and some removed. */
  patched(set: readonly (readonly [string, unknown])[], removed: readonly string[]): Fragment;
  /** The parameters of `patched`, in the order of its text, which depends only on the shape. */
  readPatch(
    set: readonly (readonly [string, unknown])[],
    removed: readonly string[],
  ): { readonly shape: string; readonly parameters: readonly unknown[] };
  /** The record with incremented counters. */
  withDeltas(deltas: readonly (readonly [Column, number])[]): Fragment;
  /** The record of an existing row with incremented counters. `row`: the name of the row in an upsert. */
  withCounts(row: string, deltas: readonly (readonly [Column, number])[]): Fragment;
  /** The parameter of `contains`. */
  pattern(part: string): string;
  contains(column: Fragment, pattern: string): Fragment;
  /** Whether the list of a row has a member, for a query over many rows. */
  has(table: Table, column: Column, member: string): Fragment;
  /** The same for a row that the statement finds by its id. */
  hasHere(table: Table, column: Column, member: string): Fragment;
  /** The parameter of `oneOf`. */
  list(values: readonly unknown[]): string | readonly unknown[];
  oneOf(column: Fragment, list: unknown): Fragment;
  /** Whether the row is one of those whose ids a query selects to delete them. */
  isChosen(ids: Fragment): Fragment;
  /** Absent values sort first. */
  direction(direction: 'asc' | 'desc'): Fragment;
}

export function createWording(dialect: SqlDialect, names: SqlNames): DialectExpressions {
  return dialect === 'sqlite' ? createSqliteWording(names) : createPostgresWording();
}

function createSqliteWording(names: SqlNames): DialectExpressions {
  const json = (value: unknown) => sql`json(${toJsonText(value, 'sqlite')})`;
  return {
    json,
    text: (value) => value,
    patched(set, removed) {
      const rest =
        removed.length === 0
          ? sql`record`
          : sql`json_remove(record, ${sql.join(removed.map((field) => path(field)))})`;
      const changes = set.flatMap(([field, value]) => [path(field), json(value)]);
      return changes.length === 0 ? rest : sql`json_set(${rest}, ${sql.join(changes)})`;
    },
    readPatch: (set, removed) => ({
      shape: `-${removed.length}+${set.length}`,
      parameters: [
        ...removed.map(path),
        ...set.flatMap(([field, value]) => [path(field), toJsonText(value, 'sqlite')]),
      ],
    }),
    withDeltas(deltas) {
      const changes = deltas.flatMap(([{ field, ref }, delta]) => [
        path(field),
        sql`coalesce(${ref}, 0) + ${delta}`,
      ]);
      return changes.length === 0 ? sql`record` : sql`json_set(record, ${sql.join(changes)})`;
    },
    withCounts(row, deltas) {
      const changes = deltas.flatMap(([{ field, ref }, delta]) => [
        path(field),
        sql`coalesce(${sql.raw(row)}.${ref}, 0) + ${delta}`,
      ]);
      return sql`json_set(${sql.raw(row)}.record, ${sql.join(changes)})`;
    },
    pattern: (part) => part.toLowerCase(),
    contains: (column, pattern) => sql`${sql.raw(`${names.prefix}contains`)}(${column}, ${pattern}) = 1`,
    has: ({ collection }, column, member) =>
      sql`id in (select id from ${sql.raw(names.table(getMembersTable(collection, column)))} where value = ${member})`,
    hasHere: (_table, { ref }, member) =>
      sql`exists (select 1 from json_each(${ref}) where value = ${member})`,
    list: (values) => JSON.stringify(values),
    oneOf: (column, list) => sql`${column} in (select value from json_each(${list}))`,
    isChosen: (ids) => sql`id in (${ids})`,
    direction: (direction) => sql.raw(direction),
  };
}

function path(field: string): string {
  if (/["\\]/.test(field)) throw new TypeError(`'${field}' cannot name a field`);
  return `$."${field}"`;
}

function createPostgresWording(): DialectExpressions {
  const json = (value: unknown) => sql`cast(${toJsonText(value, 'postgres')} as jsonb)`;
  const has: DialectExpressions['has'] = (_table, { ref }, member) =>
    sql`${ref} @> jsonb_build_array(cast(${member} as text))`;
  return {
    json,
    text: storable,
    patched(set, removed) {
      const rest = removed.length === 0 ? sql`record` : sql`(record - cast(${removed} as text[]))`;
      return set.length === 0 ? rest : sql`${rest} || ${json(Object.fromEntries(set))}`;
    },
    readPatch: (set, removed) => ({
      shape: `${removed.length === 0 ? '' : '-'}${set.length === 0 ? '' : '+'}`,
      parameters: [
        ...(removed.length === 0 ? [] : [removed]),
        ...(set.length === 0 ? [] : [toJsonText(Object.fromEntries(set), 'postgres')]),
      ],
    }),
    withDeltas(deltas) {
      const changes = deltas.map(
        ([{ field, ref }, delta]) =>
          sql`cast(${field} as text), coalesce(${ref}, 0) + cast(${delta} as bigint)`,
      );
      return changes.length === 0 ? sql`record` : sql`record || jsonb_build_object(${sql.join(changes)})`;
    },
    withCounts(row, deltas) {
      const changes = deltas.map(
        ([{ field, ref }, delta]) =>
          sql`cast(${field} as text), coalesce(${sql.raw(row)}.${ref}, 0) + cast(${delta} as bigint)`,
      );
      return sql`${sql.raw(row)}.record || jsonb_build_object(${sql.join(changes)})`;
    },
    // The column's collation compares bytes and ignores case only for ASCII.
    pattern: (part) => `%${storable(part).replace(/[\\%_]/g, '\\$&')}%`,
    contains: (column, pattern) => sql`${column} collate "default" ilike ${pattern}`,
    has,
    hasHere: has,
    list: (values) => values,
    oneOf: (column, list) => sql`${column} = any(${list})`,
    // An array is selected once, before the deletion. The locks skip records that another call deletes or changes meanwhile.
    isChosen: (ids) => sql`id = any(array(${ids} for update))`,
    direction: (direction) => sql.raw(direction === 'asc' ? 'asc nulls first' : 'desc nulls last'),
  };
}
