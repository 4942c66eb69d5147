import type { CollectionDefinition, StoredRecord } from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import type { EngineWork } from './engine-write.ts';
import { createWording } from './expressions.ts';
import { compileFilter } from './filter.ts';
import { type Fragment, sql, type ToFragment } from './fragments.ts';
import type { Table } from './table.ts';
import type { Effect } from './write-reads.ts';

export type GetTable = (definition: CollectionDefinition<StoredRecord>) => Table;

export type CompileCheck = (write: Effect) => Fragment | undefined;

/** A condition without which a write has no effect; undefined: there is none. */
export function createCompileCheck(
  { dialect, names }: SqlDatabase,
  getTable: GetTable,
  toFragment: ToFragment,
): CompileCheck {
  const expressions = createWording(dialect, names);
  const ofRow = { ...expressions, has: expressions.hasHere };
  const isNone = (table: Table, filter: object) =>
    sql`not exists (select 1 from ${sql.raw(names.table(table.collection))} where ${compileFilter(table, expressions, filter)})`;

  return (write) => {
    if (write.do === 'engine') return toFragment((write.work as EngineWork).expected);
    const table = getTable(write.collection);
    const name = sql.raw(names.table(table.collection));
    switch (write.do) {
      case 'count':
        return undefined;
      case 'insert': {
        const record = write.record as unknown as Readonly<Record<string, unknown>>;
        const keys = table.unique
          .map((columns) => columns.map(({ field }) => [field, record[field] ?? null] as const))
          .filter((values) => values.every(([, value]) => value !== null));
        return sql.join(
          [[['id', write.id] as const], ...keys].map((key) => isNone(table, Object.fromEntries(key))),
          sql` and `,
        );
      }
      case 'remove-where': {
        const filter = compileFilter(table, expressions, write.filter);
        if (write.max === 0) return isNone(table, write.filter);
        return sql`(select count(*) from (select 1 from ${name} where ${filter} limit ${write.max + 1}) as matching) <= ${write.max}`;
      }
      default: {
        const found = sql`exists (select 1 from ${name} where id = ${expressions.text(write.id)}
          and ${compileFilter(table, ofRow, write.guard)})`;
        return write.do === 'expect-none' ? sql`not ${found}` : found;
      }
    }
  };
}
