import {
  type CallOptions,
  type Collection,
  type CollectionDefinition,
  type Filter,
  type Reference,
  type StoredRecord,
  UniqueViolation,
} from '@questline/core/ports';
import type { SqlDatabase } from '../database.ts';
import { type SqlRow, type SqlStatement, toNumber } from '../statement.ts';
import { isUniqueViolation } from '../violations.ts';
import { createWording } from './expressions.ts';
import { addParameters, compileFilter, getShape, readConditions } from './filter.ts';
import { compile, type Fragment, sql } from './fragments.ts';
import { fromJson, toJsonText } from './json.ts';
import { createKeptStatements } from './kept-statements.ts';
import { assertLimit, createReads, RECORD } from './reads.ts';
import { assertFits, getColumn, type Table } from './table.ts';

const MAX_RECORDS = 1000;

export type RunStatement = (statement: SqlStatement, options?: CallOptions) => Promise<readonly SqlRow[]>;

/** Creates the operations of one table, on the database or in a transaction. @param read runs lists and counts. */
export type CollectionMaker = (run: RunStatement, read: RunStatement) => Collection<StoredRecord>;

/** Each operation is one statement. The text of a statement that is frequent is compiled once per shape. */
export function createCollectionMaker(
  database: SqlDatabase,
  table: Table,
  toNamed: (statement: SqlStatement) => SqlStatement,
  getTable: <P extends StoredRecord>(definition: CollectionDefinition<P>) => Table,
): CollectionMaker {
  const { dialect, names } = database;
  const expressions = createWording(dialect, names);
  const ofRow = { ...expressions, has: expressions.hasHere };
  const name = sql.raw(names.table(table.collection));

  const prepared = createKeptStatements(dialect, toNamed);
  const reads = createReads({
    ...{ names, table, expressions, getTable, prepared },
    planned: createKeptStatements(dialect),
  });

  /** A statement about the record with this id, if it matches the guard. @param values parameters before those of the guard. */
  const toGuarded = (
    verb: string,
    id: string,
    guard: Filter<StoredRecord> | undefined,
    toQuery: (where: Fragment) => Fragment,
    values: readonly unknown[] = [],
  ): SqlStatement => {
    const conditions = readConditions(table, ofRow, guard);
    const parameters = addParameters([...values, expressions.text(id)], conditions);
    return prepared.get(`${verb} ${getShape(conditions)}`, parameters, () => toQuery(isThis(id, guard)));
  };

  const isThis = (id: string, guard: Filter<StoredRecord> | undefined): Fragment =>
    guard === undefined
      ? sql`id = ${expressions.text(id)}`
      : sql`id = ${expressions.text(id)} and ${compileFilter(table, ofRow, guard)}`;

  /** Replaces a record by `next`. */
  const replacing = (next: Fragment, where: Fragment): Fragment =>
    sql`update ${name} set record = ${next} where ${where} returning ${RECORD}`;

  const toRecord = ([row]: readonly SqlRow[]): StoredRecord | undefined =>
    row && fromJson<StoredRecord>(row.record);

  return (runNow, read) => {
    const change = async (
      statement: SqlStatement,
      options: CallOptions | undefined,
    ): Promise<StoredRecord | undefined> => {
      try {
        return toRecord(await runNow(statement, options));
      } catch (error) {
        throw isUniqueViolation(error) ? new UniqueViolation(table.collection, { cause: error }) : error;
      }
    };

    return {
      async get(id, guard, options) {
        const toQuery = (where: Fragment) => sql`select ${RECORD} from ${name} where ${where}`;
        return toRecord(await runNow(toGuarded('get', id, guard, toQuery), options));
      },

      async getWithMatch<P extends StoredRecord>(
        id: string,
        reference: Reference<StoredRecord, P>,
        options?: CallOptions,
      ) {
        const [row] = await runNow(reads.getWithMatch(id, reference), options);
        return row && { record: fromJson<StoredRecord>(row.record), matches: Boolean(row.matches) };
      },

      async find(filter, options = {}) {
        // The look-up of one record costs the primary as little as the question whether a replica has it.
        const runFind = options.limit === 1 ? runNow : read;
        const rows = await runFind(reads.find(filter, options), options);
        return rows.map(({ record }) => fromJson<StoredRecord>(record));
      },

      async count(filter, options) {
        const [row] = await read(reads.count(filter), options);
        return toNumber(row?.count);
      },

      async insert(record, options) {
        assertFits(table, record);
        const parameters = [expressions.text(record.id), toJsonText(record, dialect)];
        const statement = prepared.get(
          'insert',
          parameters,
          () => sql`insert into ${name} (id, record)
            values (${expressions.text(record.id)}, ${expressions.json(record)})
            on conflict do nothing returning id`,
        );
        return (await runNow(statement, options)).length === 1;
      },

      async update(id, patch, guard, options) {
        assertFits(table, patch);
        const fields = Object.entries(patch).filter(([field]) => field !== 'id');
        const set = fields.filter(([, value]) => value !== undefined);
        const removed = fields.filter(([, value]) => value === undefined).map(([field]) => field);
        const { shape, parameters } = expressions.readPatch(set, removed);
        const toQuery = (where: Fragment) => replacing(expressions.patched(set, removed), where);
        return change(toGuarded(`update ${shape}`, id, guard, toQuery, parameters), options);
      },

      async add(id, deltas, guard, options) {
        const moves = Object.entries(deltas).map(([field, delta = 0]) => {
          const column = getColumn(table, field);
          if (column.type !== 'integer' || !Number.isSafeInteger(delta)) {
            throw new TypeError(`${table.collection}.${field} counts whole numbers`);
          }
          return [column, delta] as const;
        });
        const query = replacing(expressions.withDeltas(moves), isThis(id, guard));
        return change(toNamed(compile(query, dialect)), options);
      },

      async take(id, guard, options) {
        const toQuery = (where: Fragment) => sql`delete from ${name} where ${where} returning ${RECORD}`;
        return toRecord(await runNow(toGuarded('take', id, guard, toQuery), options));
      },

      async removeWhere(filter, { limit = MAX_RECORDS, ...options } = {}) {
        assertLimit(limit);
        const matching = compileFilter(table, expressions, filter);
        const chosen = sql`select id from ${name} where ${matching} limit ${limit}`;
        const query = sql`delete from ${name} where ${expressions.isChosen(chosen)} returning id`;
        // Planned for its values: one status is rare and another one is not.
        return (await runNow(compile(query, dialect), options)).length;
      },
    };
  };
}
