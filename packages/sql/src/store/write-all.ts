import type { CallOptions, CollectionDefinition, StoredRecord, StoreWrite } from '@questline/core/ports';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { SqlDatabase } from '../database.ts';
import { fingerprint, type SqlStatement } from '../statement.ts';
import { isCheckViolation, isDivisionByZero, isUniqueViolation } from '../violations.ts';
import { createCompiler } from './compiler.ts';
import type { EngineWork } from './engine-write.ts';
import { createWording, type DialectExpressions } from './expressions.ts';
import { compileFilter } from './filter.ts';
import { assertFits, getColumn, type Table } from './table.ts';

const ALWAYS = '1 = 1';
/** Maximum number of prepared texts. */
const MAX_PREPARED = 100;

/** The writes of a step as one statement each. */
type CompileWrite = (write: StoreWrite, condition: string) => RawBuilder<unknown>;

type GetTable = (definition: CollectionDefinition<StoredRecord>) => Table;

/** Thrown in the transaction to undo it. */
class WithoutEffect extends Error {}

/** `writeAll` of a store: one statement on PostgreSQL, one synchronous transaction on SQLite. */
export function createWriteAll(database: SqlDatabase, getTable: GetTable) {
  const compiler = createCompiler(database.dialect);
  const compileWrite = createCompileWrite(database, getTable);
  const preparedNames = new Map<string, string>();

  /** The lists of writes have few texts, which are long: PostgreSQL reads and plans each once per connection. */
  const toStatement = (query: RawBuilder<unknown>): SqlStatement => {
    const { sql: text, parameters } = query.compile(compiler);
    let name = preparedNames.get(text);
    if (name === undefined && preparedNames.size < MAX_PREPARED) {
      name = `questline_${fingerprint(text)}`;
      preparedNames.set(text, name);
    }
    return { sql: text, parameters, ...(name !== undefined && { name }) };
  };

  return async (writes: readonly StoreWrite[], options?: CallOptions): Promise<boolean> => {
    options?.signal?.throwIfAborted();
    if (writes.some((write) => write.do === 'engine' && write.engine !== database)) return false;
    if (writes.length === 0) return true;
    const isDone = await attempt(writes, options);
    if (isDone) for (const write of writes) if (write.do === 'engine') write.applied();
    return isDone;
  };

  async function attempt(writes: readonly StoreWrite[], options: CallOptions | undefined): Promise<boolean> {
    try {
      if (database.dialect === 'postgres') {
        const [row] = await database.run(toStatement(chain(writes, compileWrite)), options);
        return Number(row?.done) === 1;
      }
      await database.immediate((run) => {
        for (const write of writes) {
          if (run(toStatement(compileWrite(write, ALWAYS))).length === 0) throw new WithoutEffect();
        }
      }, options);
      return true;
    } catch (error) {
      if (error instanceof WithoutEffect || hasViolation(error)) return false;
      throw error;
    }
  }
}

/** A violation is an effect that is not possible; the caller's own call reports which one. */
function hasViolation(error: unknown): boolean {
  return isUniqueViolation(error) || isCheckViolation(error) || isDivisionByZero(error);
}

/**
 * One statement: each write happens only after the one before it had an effect. If the first has none, nothing is written; if a
 * later one has none, the statement fails by a division by zero, which undoes the others.
 */
function chain(writes: readonly StoreWrite[], compileWrite: CompileWrite): RawBuilder<unknown> {
  const steps = writes.map((write, at) => {
    const condition = at === 0 ? ALWAYS : `exists (select 1 from step_${at - 1})`;
    const ctes = write.do === 'engine' ? (write.work as EngineWork).ctes : undefined;
    const before = ctes === undefined ? sql`` : sql`${toRaw(ctes(condition))},`;
    return sql`${before} ${sql.raw(`step_${at}`)} as materialized (${compileWrite(write, condition)})`;
  });
  const last = sql.raw(`step_${writes.length - 1}`);
  // Expectations come first and write nothing.
  const written = writes.findIndex(({ do: what }) => what !== 'expect' && what !== 'expect-none');
  const first = sql.raw(`step_${Math.max(0, written)}`);
  return sql`with ${sql.join(steps)}
    select case when exists (select 1 from ${first}) then 1 / (select count(*) from ${last}) else 0 end as done`;
}

function createCompileWrite(database: SqlDatabase, getTable: GetTable): CompileWrite {
  const { dialect, names } = database;
  const isSqlite = dialect === 'sqlite';
  const expressions = createWording(dialect, names);
  const ofRow = { ...expressions, has: expressions.hasHere };
  const isThis = (table: Table, id: string, guard: object | undefined): RawBuilder<SqlBool> =>
    guard === undefined
      ? sql<SqlBool>`id = ${expressions.text(id)}`
      : sql<SqlBool>`id = ${expressions.text(id)} and ${compileFilter(table, ofRow, guard)}`;

  return (write, conditionText) => {
    if (write.do === 'engine') return toRaw((write.work as EngineWork).toStatement(conditionText));
    const table = getTable(write.collection);
    const name = sql.raw(names.table(table.collection));
    const condition = sql.raw(conditionText);
    const { id } = write;
    switch (write.do) {
      case 'insert':
        assertFits(table, write.record);
        return sql`insert into ${name} (id, record) select ${expressions.text(id)}, ${expressions.json(write.record)}
          where ${condition} returning 1 as done`;
      case 'update': {
        assertFits(table, write.patch);
        const fields = Object.entries(write.patch).filter(([field]) => field !== 'id');
        const set = fields.filter(([, value]) => value !== undefined);
        const removed = fields.filter(([, value]) => value === undefined).map(([field]) => field);
        return sql`update ${name} set record = ${expressions.patched(set, removed)}
          where ${isThis(table, id, write.guard)} and ${condition} returning 1 as done`;
      }
      case 'count':
        return sql`insert into ${name} as kept (id, record)
          select ${expressions.text(id)}, ${expressions.json({ ...write.deltas, id })} where ${condition}
          on conflict (id) do update set record = ${toCounts(table, expressions, write.deltas)} returning 1 as done`;
      case 'expect':
        return sql`select 1 as done from ${name} where ${isThis(table, id, write.guard)} and ${condition}
          ${sql.raw(isSqlite ? '' : 'for key share')}`;
      case 'expect-none':
        return sql`select 1 as done where ${condition} and not exists (
          select 1 from ${name} where ${isThis(table, id, write.guard)})`;
    }
  };
}

function toCounts(
  table: Table,
  expressions: DialectExpressions,
  deltas: Readonly<Record<string, number>>,
): RawBuilder<unknown> {
  const moves = Object.entries(deltas).map(([field, delta]) => {
    const column = getColumn(table, field);
    if (column.type !== 'integer' || !Number.isSafeInteger(delta)) {
      throw new TypeError(`${table.collection}.${field} counts whole numbers`);
    }
    return [column, delta] as const;
  });
  return expressions.withCounts('kept', moves);
}

/** A statement as a part of another one. */
function toRaw({ sql: text, parameters }: SqlStatement): RawBuilder<unknown> {
  let at = 0;
  const parts = text.split(/(\$\d+|\?)/).map((part) => {
    if (part === '?') {
      at += 1;
      return sql.val(parameters[at - 1]);
    }
    return /^\$\d+$/.test(part) ? sql.val(parameters[Number(part.slice(1)) - 1]) : sql.raw(part);
  });
  return sql.join(parts, sql.raw(''));
}
