import type { SqlDatabase } from '../database.ts';
import { defineStatement, type SqlRow } from '../statement.ts';

type ColumnKind = 'text' | 'integer' | 'json' | 'boolean';

/** Rows of a table that is not a collection, and belong to an owner. */
export interface OwnedRows {
  readonly table: string;
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** The columns that identify a row: all of them text. */
  readonly key: readonly [string, ...string[]];
  /** Which rows of the table, or of `from`, belong to `@scope`. */
  readonly condition: (dialect: SqlDatabase['dialect']) => string;
  /** Selects the rows elsewhere, with the same columns. Default: the table. */
  readonly from?: (database: SqlDatabase) => string;
  /** Rows of a page. Default 500. */
  readonly batch?: number;
}

/** Rows of a page. Their values can be long. */
const DEFAULT_BATCH = 500;
/** A page of a large account reads all of its rows. */
export const LONG_CALL = { timeoutMs: 600_000 };

/** Copies rows page by page, without those that the target has. @returns the number of read rows. */
export async function copyRows(
  rows: OwnedRows,
  scope: string,
  source: SqlDatabase,
  target: SqlDatabase,
): Promise<number> {
  const { batch = DEFAULT_BATCH } = rows;
  const read = defineRead(rows, source);
  const write = defineWrite(rows, target);
  let copied = 0;
  for (let after = ''; ; ) {
    const page = await source.run(read({ scope, after, limit: batch }), LONG_CALL);
    if (page.length > 0) await target.run(write({ rows: JSON.stringify(page.map(toValues)) }), LONG_CALL);
    copied += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < batch) return copied;
    after = String(last.position);
  }
}

/** Deletes the rows of the table. */
export async function deleteRows(
  { table, condition }: OwnedRows,
  scope: string,
  { dialect, names, run }: SqlDatabase,
): Promise<void> {
  const remove = defineStatement<'scope'>(
    dialect,
    `delete from ${names.table(table)} where ${condition(dialect)}`,
  );
  await run(remove({ scope }), LONG_CALL);
}

/** Lists as text: the engines order it by code point. */
function toPosition(dialect: SqlDatabase['dialect'], key: readonly string[]): string {
  const text = key.map((column) => `cast(${column} as text)`).join(` || ' ' || `);
  return dialect === 'sqlite' ? `(${text})` : `(${text}) collate "C"`;
}

function defineRead({ table, columns, key, condition, from }: OwnedRows, database: SqlDatabase) {
  const { dialect, names } = database;
  const listed = Object.entries(columns).map(([column, kind]) =>
    kind === 'json' ? `cast(${column} as text) as ${column}` : column,
  );
  const position = toPosition(dialect, key);
  return defineStatement<'scope' | 'after' | 'limit'>(
    dialect,
    `select ${listed.join(', ')}, ${position} as position from ${from?.(database) ?? names.table(table)}
     where ${condition(dialect)} and ${position} > @after order by ${position} limit @limit`,
  );
}

function defineWrite({ table, columns }: OwnedRows, { dialect, names }: SqlDatabase) {
  const isSqlite = dialect === 'sqlite';
  const row = isSqlite ? 'listed.value' : 'listed';
  const TYPES = { text: 'text', integer: 'bigint', json: 'jsonb', boolean: 'boolean' } as const;
  const values = Object.entries(columns).map(([column, kind]) =>
    isSqlite ? `${row} ->> '${column}'` : `cast(${row} ->> '${column}' as ${TYPES[kind]})`,
  );
  const list = isSqlite ? 'json_each(@rows) listed' : 'jsonb_array_elements(cast(@rows as jsonb)) listed';
  return defineStatement<'rows'>(
    dialect,
    `insert into ${names.table(table)} (${Object.keys(columns).join(', ')})
     select ${values.join(', ')} from ${list} where 1 = 1 on conflict do nothing`,
  );
}

/** Drivers return 64-bit integers as text or bigints. */
function toValues({ position: _, ...row }: SqlRow): SqlRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  );
}
