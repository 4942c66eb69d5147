import { type CallOptions, isStoreRead, type StoreRead, type StoreWrite } from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import type { SqlRow, SqlStatement } from '../statement.ts';
import { isCheckViolation, isDivisionByZero, isUniqueViolation } from '../violations.ts';
import type { EngineWork } from './engine-write.ts';
import { createWording } from './expressions.ts';
import { compileFilter } from './filter.ts';
import { compile, createToFragment, type Fragment, sql, type ToFragment } from './fragments.ts';
import { assertFits, type Column, getColumn, type Table } from './table.ts';
import { type CompileCheck, createCompileCheck, type GetTable } from './write-checks.ts';
import { createCompileReads, type Effect, giveReads } from './write-reads.ts';

const ALWAYS = '1 = 1';

/** The writes of a step as one statement each. */
type CompileWrite = (write: Effect, condition: string, at?: number) => Fragment;

/** The CTEs that come before a write, each with a comma. */
type CompileCtes = (write: Effect, condition: string, at: number) => Fragment;

/** Thrown in the transaction to undo it. */
class WithoutEffect extends Error {}

/** `writeAll` of a store: one statement on PostgreSQL, one synchronous transaction on SQLite. */
export function createWriteAll(
  database: SqlDatabase,
  getTable: GetTable,
  toNamed: (statement: SqlStatement) => SqlStatement,
) {
  const toFragment = createToFragment();
  const compileWrite = createCompileWrite(database, getTable, toFragment);
  const compileCheck = createCompileCheck(database, getTable, toFragment);
  const compileCtes = createCompileCtes(database, getTable, toFragment);
  const compileReads = createCompileReads(database, getTable);
  /** The lists of writes have few texts, which are long: PostgreSQL reads and plans each once per connection. */
  const toStatement = (query: Fragment): SqlStatement => toNamed(compile(query, database.dialect));

  return async (writes: readonly StoreWrite[], options?: CallOptions): Promise<boolean> => {
    options?.signal?.throwIfAborted();
    if (writes.some((write) => write.do === 'engine' && write.engine !== database)) return false;
    if (writes.length === 0) return true;
    const isDone = await attempt(writes, options);
    if (isDone) for (const write of writes) if (write.do === 'engine') write.applied();
    return isDone;
  };

  async function attempt(writes: readonly StoreWrite[], options: CallOptions | undefined): Promise<boolean> {
    const reads = writes.filter(isStoreRead);
    const effects = writes.filter((write) => !isStoreRead(write));
    try {
      const row =
        database.dialect === 'postgres'
          ? await attemptInOne(effects, reads, options)
          : await database.immediate((run) => {
              const { length } = getExpectations(effects);
              const [looked = {}] =
                length + reads.length > 0 ? run(look(effects.slice(0, length), reads)) : [];
              if (length > 0 && Number(looked.done) !== 1) throw new WithoutEffect();
              for (const write of effects.slice(length)) writeNow(write, run);
              return looked;
            }, options);
      if (row !== undefined) giveReads(reads, row);
      return row !== undefined;
    } catch (error) {
      if (error instanceof WithoutEffect || hasViolation(error)) return false;
      throw error;
    }
  }

  async function attemptInOne(
    effects: readonly Effect[],
    reads: readonly StoreRead[],
    options: CallOptions | undefined,
  ): Promise<SqlRow | undefined> {
    const statement =
      effects.length === 0
        ? look([], reads)
        : toStatement(chain(effects, compileWrite, compileCheck, compileCtes, compileReads(reads)));
    const busy = effects.flatMap((write) =>
      write.do === 'engine' ? ((write.work as EngineWork).row ?? []) : [],
    );
    const [row] = await database.run(
      { ...statement, ...(busy[0] !== undefined && { row: busy[0] }) },
      options,
    );
    return Number(row?.done) === 1 ? row : undefined;
  }

  function look(expectations: readonly Effect[], reads: readonly StoreRead[]): SqlStatement {
    const checks = expectations.flatMap((write) => compileCheck(write) ?? []);
    const done =
      checks.length === 0 ? sql`1` : sql`case when ${sql.join(checks, sql` and `)} then 1 else 0 end`;
    return toStatement(sql`select ${done} as done ${compileReads(reads)}`);
  }

  function writeNow(write: Effect, run: (statement: SqlStatement) => readonly SqlRow[]): void {
    const done =
      write.do === 'remove-where' && write.max === 0
        ? 0
        : run(toStatement(compileWrite(write, ALWAYS))).length;
    if (write.do !== 'remove-where') {
      if (done === 0) throw new WithoutEffect();
    } else if (done === write.max) {
      const isWhole = sql`select 1 where ${compileCheck({ ...write, max: 0 })}`;
      if (run(toStatement(isWhole)).length === 0) throw new WithoutEffect();
    }
  }
}

/** The expectations that come first. They write nothing. */
function getExpectations(effects: readonly Effect[]): readonly Effect[] {
  const written = effects.findIndex(({ do: what }) => what !== 'expect' && what !== 'expect-none');
  return written < 0 ? effects : effects.slice(0, written);
}

/** A violation is an effect that is not possible; the caller's own call reports which one. */
function hasViolation(error: unknown): boolean {
  return isUniqueViolation(error) || isCheckViolation(error) || isDivisionByZero(error);
}

/**
 * One statement: each write happens only after the one before it had an effect. The first looks at what the others expect, so
 * that a step without effect writes nothing. Only if another call changes that meanwhile, a later write may have no effect:
 * then the statement fails by a division by zero, which undoes the others.
 */
function chain(
  writes: readonly Effect[],
  compileWrite: CompileWrite,
  compileCheck: CompileCheck,
  compileCtes: CompileCtes,
  reads: Fragment,
): Fragment {
  const { length: expected } = getExpectations(writes);
  const firstWritten = expected === writes.length ? 0 : expected;
  const checks = writes.slice(firstWritten + 1).flatMap((write) => compileCheck(write) ?? []);
  const checked =
    checks.length === 0
      ? sql``
      : sql`checked as materialized (select 1 as done where ${sql.join(checks, sql` and `)}),`;
  const steps = writes.map((write, at) => {
    const condition =
      at > 0
        ? `exists (select 1 from step_${at - 1})`
        : checks.length === 0
          ? ALWAYS
          : 'exists (select 1 from checked)';
    return sql`${compileCtes(write, condition, at)} ${sql.raw(`step_${at}`)} as materialized (${compileWrite(write, condition, at)})`;
  });
  const last = sql.raw(`step_${writes.length - 1}`);
  const first = sql.raw(`step_${firstWritten}`);
  return sql`with ${checked} ${sql.join(steps)}
    select case when exists (select 1 from ${first}) then 1 / (select count(*) from ${last}) else 0 end as done ${reads}`;
}

function createCompileCtes(
  { dialect, names }: SqlDatabase,
  getTable: GetTable,
  toFragment: ToFragment,
): CompileCtes {
  const expressions = createWording(dialect, names);
  return (write, condition, at) => {
    if (write.do === 'engine') {
      const { ctes } = write.work as EngineWork;
      return ctes === undefined ? sql`` : sql`${toFragment(ctes(condition))},`;
    }
    if (write.do !== 'remove-where') return sql``;
    const table = getTable(write.collection);
    const name = sql.raw(names.table(table.collection));
    const chosen = sql.raw(`chosen_${at}`);
    return sql`${chosen} as materialized (
        select id from ${name} where ${compileFilter(table, expressions, write.filter)} and ${sql.raw(condition)}
        limit ${write.max + 1} for update
      ), ${sql.raw(`removed_${at}`)} as (
        delete from ${name} where id = any(array(select id from ${chosen})) and ${isWhole(write.max, at)}
      ),`;
  };
}

/** Whether not more records were found than may be deleted. */
function isWhole(max: number, at: number): Fragment {
  return sql`(select count(*) from ${sql.raw(`chosen_${at}`)}) <= ${max}`;
}

function createCompileWrite(database: SqlDatabase, getTable: GetTable, toFragment: ToFragment): CompileWrite {
  const { dialect, names } = database;
  const isSqlite = dialect === 'sqlite';
  const expressions = createWording(dialect, names);
  const ofRow = { ...expressions, has: expressions.hasHere };
  const isThis = (table: Table, id: string, guard: object | undefined): Fragment =>
    guard === undefined
      ? sql`id = ${expressions.text(id)}`
      : sql`id = ${expressions.text(id)} and ${compileFilter(table, ofRow, guard)}`;

  return (write, conditionText, at = 0) => {
    if (write.do === 'engine') return toFragment((write.work as EngineWork).toStatement(conditionText));
    const table = getTable(write.collection);
    const name = sql.raw(names.table(table.collection));
    const condition = sql.raw(conditionText);
    if (write.do === 'remove-where') {
      if (!isSqlite) return sql`select 1 as done where ${condition} and ${isWhole(write.max, at)}`;
      const ids = sql`select id from ${name} where ${compileFilter(table, expressions, write.filter)}`;
      return sql`delete from ${name} where id in (${ids} limit ${write.max}) returning 1 as done`;
    }
    const { id } = write;
    switch (write.do) {
      case 'insert':
        assertFits(table, write.record);
        return sql`insert into ${name} (id, record) select ${expressions.text(id)}, ${expressions.json(write.record)}
          where ${condition} on conflict do nothing returning 1 as done`;
      case 'update': {
        assertFits(table, write.patch);
        const fields = Object.entries(write.patch).filter(([field]) => field !== 'id');
        const set = fields.filter(([, value]) => value !== undefined);
        const removed = fields.filter(([, value]) => value === undefined).map(([field]) => field);
        return sql`update ${name} set record = ${expressions.patched(set, removed)}
          where ${isThis(table, id, write.guard)} and ${condition} returning 1 as done`;
      }
      case 'add':
        return sql`update ${name} set record = ${expressions.withDeltas(toMoves(table, write.deltas))}
          where ${isThis(table, id, write.guard)} and ${condition} returning 1 as done`;
      case 'remove':
        return sql`delete from ${name} where ${isThis(table, id, write.guard)} and ${condition} returning 1 as done`;
      case 'count':
        return sql`insert into ${name} as kept (id, record)
          select ${expressions.text(id)}, ${expressions.json({ ...write.deltas, id })} where ${condition}
          on conflict (id) do update set record = ${expressions.withCounts('kept', toMoves(table, write.deltas))} returning 1 as done`;
      case 'expect':
        return sql`select 1 as done from ${name} where ${isThis(table, id, write.guard)} and ${condition}
          ${sql.raw(isSqlite ? '' : 'for key share')}`;
      case 'expect-none':
        return sql`select 1 as done where ${condition} and not exists (
          select 1 from ${name} where ${isThis(table, id, write.guard)})`;
    }
  };
}

function toMoves(
  table: Table,
  deltas: Readonly<Record<string, number>>,
): readonly (readonly [Column, number])[] {
  return Object.entries(deltas).map(([field, delta]) => {
    const column = getColumn(table, field);
    if (column.type !== 'integer' || !Number.isSafeInteger(delta)) {
      throw new TypeError(`${table.collection}.${field} counts whole numbers`);
    }
    return [column, delta] as const;
  });
}
