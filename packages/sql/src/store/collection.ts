import {
  type CallOptions,
  type Collection,
  type CollectionDefinition,
  type Filter,
  type FindOptions,
  type Reference,
  type StoredRecord,
  UniqueViolation,
} from '@questline/core/ports';
import { type Compilable, type Expression, type SqlBool, sql } from 'kysely';
import type { SqlDatabase } from '../database.ts';
import { type SqlRow, type SqlStatement, toNumber } from '../statement.ts';
import { isUniqueViolation } from '../violations.ts';
import { createCompiler } from './compiler.ts';
import { createWording } from './expressions.ts';
import { compileFilter } from './filter.ts';
import { fromJson } from './json.ts';
import { assertFits, getColumn, type Table } from './table.ts';

const MAX_RECORDS = 1000;
const RECORD = sql<string>`cast(record as text)`.as('record');

export type RunStatement = (statement: SqlStatement, options?: CallOptions) => Promise<readonly SqlRow[]>;

type RunCompiled = (query: Compilable, options: CallOptions | undefined) => Promise<readonly SqlRow[]>;

/** Creates the operations of one table, on the database or in a transaction. */
export type CollectionMaker = (run: RunStatement) => Collection<StoredRecord>;

/** Statements are compiled once per definition; each operation is one statement. */
export function createCollectionMaker(
  database: SqlDatabase,
  table: Table,
  toNamed: (statement: SqlStatement) => SqlStatement,
  getTable: <P extends StoredRecord>(definition: CollectionDefinition<P>) => Table,
): CollectionMaker {
  const { dialect, names } = database;
  const expressions = createWording(dialect, names);
  const ofRow = { ...expressions, has: expressions.hasHere };
  const compiler = createCompiler(dialect);
  const db = names.schema === undefined ? compiler : compiler.withSchema(names.schema);
  const name = names.plain(table.collection);

  const isThis = (id: string, guard: Filter<StoredRecord> | undefined): Expression<SqlBool> =>
    guard === undefined
      ? sql`id = ${expressions.text(id)}`
      : sql`id = ${expressions.text(id)} and ${compileFilter(table, ofRow, guard)}`;

  return (runNow) => {
    /** Runs a statement about one record, which has the same plan for all values. */
    const runForOne: RunCompiled = (query, options) => runNow(toNamed(query.compile()), options);
    /** A list is planned for its values: one status is rare and another one is not. */
    const run: RunCompiled = (query, options) => runNow(query.compile(), options);
    const all = async (query: Compilable, options: CallOptions | undefined): Promise<StoredRecord[]> =>
      (await run(query, options)).map(({ record }) => fromJson<StoredRecord>(record));
    const one = async (query: Compilable, options: CallOptions | undefined) => {
      const [row] = await runForOne(query, options);
      return row && fromJson<StoredRecord>(row.record);
    };

    /** Replaces the record by `next`. */
    const change = async (
      id: string,
      next: Expression<unknown>,
      guard: Filter<StoredRecord> | undefined,
      options: CallOptions | undefined,
    ): Promise<StoredRecord | undefined> => {
      const query = db.updateTable(name).set({ record: next }).where(isThis(id, guard)).returning(RECORD);
      try {
        return await one(query, options);
      } catch (error) {
        throw isUniqueViolation(error) ? new UniqueViolation(table.collection, { cause: error }) : error;
      }
    };

    return {
      async get(id, guard, options) {
        return one(db.selectFrom(name).select(RECORD).where(isThis(id, guard)), options);
      },

      async getWithMatch<P extends StoredRecord>(
        id: string,
        { field, collection, filter }: Reference<StoredRecord, P>,
        options?: CallOptions,
      ) {
        const other = getTable(collection);
        const column = sql.ref(`referring.${getColumn(table, field).name}`);
        const matching = db
          .selectFrom(names.plain(other.collection))
          .select(sql`1`.as('one'))
          .where(sql<SqlBool>`id = ${column} and ${compileFilter(other, ofRow, filter)}`);
        const query = db
          .selectFrom(`${name} as referring`)
          .select([RECORD, sql`exists ${matching}`.as('matches')])
          .where(sql<SqlBool>`id = ${expressions.text(id)}`);
        const [row] = await runForOne(query, options);
        return row && { record: fromJson<StoredRecord>(row.record), matches: Boolean(row.matches) };
      },

      async find(filter, options: FindOptions<StoredRecord> = {}) {
        const { order = { field: 'id', direction: 'asc' }, after, offset = 0, limit = MAX_RECORDS } = options;
        assertLimit(limit);
        const column = getColumn(table, order.field);
        const field = sql.ref(column.name);
        const id = sql.ref('id');
        const isBeyond = sql.raw(order.direction === 'asc' ? '>' : '<');
        let query = db
          .selectFrom(name)
          .select(RECORD)
          .where(compileFilter(table, expressions, filter))
          .limit(limit);
        if (column.name === 'id') query = query.orderBy(sql`id ${sql.raw(order.direction)}`);
        else {
          const direction = expressions.direction(order.direction);
          query = query.orderBy(sql`${field} ${direction}, ${id} ${sql.raw(order.direction)}`);
        }
        if (offset > 0) query = query.offset(offset);
        if (after === undefined) return all(query, options);
        if (column.name === 'id')
          return all(query.where(sql<SqlBool>`${id} ${isBeyond} ${expressions.text(after.id)}`), options);
        const place = typeof after.value === 'string' ? expressions.text(after.value) : after.value;
        return all(
          query.where(sql<SqlBool>`(${field}, ${id}) ${isBeyond} (${place}, ${expressions.text(after.id)})`),
          options,
        );
      },

      async count(filter, options) {
        const query = db
          .selectFrom(name)
          .select(({ fn }) => fn.countAll().as('count'))
          .where(compileFilter(table, expressions, filter));
        const [row] = await run(query, options);
        return toNumber(row?.count);
      },

      async insert(record, options) {
        assertFits(table, record);
        const query = db
          .insertInto(name)
          .values({ id: expressions.text(record.id), record: expressions.json(record) })
          .onConflict((conflict) => conflict.doNothing())
          .returning('id');
        return (await runForOne(query, options)).length === 1;
      },

      async update(id, patch, guard, options) {
        assertFits(table, patch);
        const fields = Object.entries(patch).filter(([field]) => field !== 'id');
        const set = fields.filter(([, value]) => value !== undefined);
        const removed = fields.filter(([, value]) => value === undefined).map(([field]) => field);
        return change(id, expressions.patched(set, removed), guard, options);
      },

      async add(id, deltas, guard, options) {
        const moves = Object.entries(deltas).map(([field, delta = 0]) => {
          const column = getColumn(table, field);
          if (column.type !== 'integer' || !Number.isSafeInteger(delta)) {
            throw new TypeError(`${table.collection}.${field} counts whole numbers`);
          }
          return [column, delta] as const;
        });
        return change(id, expressions.withDeltas(moves), guard, options);
      },

      async take(id, guard, options) {
        return one(db.deleteFrom(name).where(isThis(id, guard)).returning(RECORD), options);
      },

      async removeWhere(filter, { limit = MAX_RECORDS, ...options } = {}) {
        assertLimit(limit);
        const chosen = db
          .selectFrom(name)
          .select('id')
          .where(compileFilter(table, expressions, filter))
          .limit(limit);
        const query = db.deleteFrom(name).where(expressions.isChosen(chosen)).returning('id');
        return (await run(query, options)).length;
      },
    };
  };
}

function assertLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_RECORDS) {
    throw new RangeError(`a limit of ${limit} is not within 1..${MAX_RECORDS}`);
  }
}
