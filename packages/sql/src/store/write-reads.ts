import type { StoredRecord, StoreRead, StoreWrite } from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import type { SqlRow } from '../statement.ts';
import { createWording } from './expressions.ts';
import { compileFilter } from './filter.ts';
import { type Fragment, sql } from './fragments.ts';
import { fromJson } from './json.ts';
import { assertLimit } from './reads.ts';
import { getColumn } from './table.ts';
import type { GetTable } from './write-checks.ts';

/** A write that can have no effect. */
export type Effect = Exclude<StoreWrite, StoreRead>;

/** Compiles the reads of a step as further columns of its statement, each after a comma. */
export type CompileReads = (reads: readonly StoreRead[]) => Fragment;

export function createCompileReads({ dialect, names }: SqlDatabase, getTable: GetTable): CompileReads {
  const expressions = createWording(dialect, names);
  return (reads) => {
    const columns = reads.map(({ collection, filter, max, order }, at) => {
      assertLimit(max);
      const table = getTable(collection);
      const column = getColumn(table, order?.field ?? 'id');
      const { direction = 'asc' } = order ?? {};
      const byId = sql.raw(`id ${direction}`);
      const byColumn = sql`${column.ref} ${expressions.direction(direction)}, ${byId}`;
      const inOrder = column.name === 'id' ? byId : byColumn;
      const matching = sql`select ${sql.raw([...new Set(['id', column.name])].join(', '))}, record
        from ${sql.raw(names.table(table.collection))}
        where ${compileFilter(table, expressions, filter)} order by ${inOrder} limit ${max}`;
      const list =
        dialect === 'sqlite'
          ? sql`json_group_array(json(record))`
          : sql`cast(jsonb_agg(record order by ${inOrder}) as text)`;
      return sql`, (select ${list} from (${matching}) as matching) as ${sql.raw(toColumn(at))}`;
    });
    return columns.length === 0 ? sql`` : sql.join(columns, sql``);
  };
}

/** Passes on what was read. */
export function giveReads(reads: readonly StoreRead[], row: SqlRow): void {
  for (const [at, read] of reads.entries()) {
    read.found(fromJson<readonly StoredRecord[] | null>(row[toColumn(at)] ?? null) ?? []);
  }
}

function toColumn(at: number): string {
  return `read_${at}`;
}
