import type {
  CollectionDefinition,
  Filter,
  FindOptions,
  Reference,
  StoredRecord,
} from '@questline/core/ports';
import type { SqlNames } from '../names.ts';
import type { SqlStatement } from '../statement.ts';
import type { DialectExpressions } from './expressions.ts';
import { addParameters, type Conditions, compileConditions, getShape, readConditions } from './filter.ts';
import { sql } from './fragments.ts';
import type { KeptStatements } from './kept-statements.ts';
import { type Column, getColumn, type Table } from './table.ts';

const MAX_RECORDS = 1000;
const BY_ID = { field: 'id', direction: 'asc' } as const;
const NOTHING = sql.raw('');

export const RECORD = sql.raw('cast(record as text) as record');

interface ReadContext {
  readonly names: SqlNames;
  readonly table: Table;
  readonly expressions: DialectExpressions;
  readonly getTable: <P extends StoredRecord>(definition: CollectionDefinition<P>) => Table;
  /** Statements with the same plan for all values: about one record, or a list that follows an index. */
  readonly prepared: KeptStatements;
  /** Other lists are planned for their values: one status is rare and another one is not. */
  readonly planned: KeptStatements;
}

/** The statements that read one table. */
export function createReads({ names, table, expressions, getTable, prepared, planned }: ReadContext) {
  const name = sql.raw(names.table(table.collection));
  const ofRow = { ...expressions, has: expressions.hasHere };

  return {
    getWithMatch<P extends StoredRecord>(
      id: string,
      { field, collection, filter }: Reference<StoredRecord, P>,
    ): SqlStatement {
      const other = getTable(collection);
      const column = getColumn(table, field);
      const conditions = readConditions(other, ofRow, filter);
      const parameters = [...addParameters([], conditions), expressions.text(id)];
      const shape = `get with ${other.collection} of ${column.name} if ${getShape(conditions)}`;
      return prepared.get(shape, parameters, () => {
        const isReferred = sql`id = referring.${column.ref}`;
        const matching = sql`select 1 from ${sql.raw(names.table(other.collection))}
          where ${isReferred} and ${compileConditions(other, ofRow, conditions)}`;
        return sql`select ${RECORD}, exists (${matching}) as matches from ${name} as referring
          where id = ${expressions.text(id)}`;
      });
    },

    find(filter: Filter<StoredRecord>, options: FindOptions<StoredRecord>): SqlStatement {
      const { order = BY_ID, after, offset = 0, limit = MAX_RECORDS } = options;
      assertLimit(limit);
      const column = getColumn(table, order.field);
      const isById = column.name === 'id';
      const conditions = readConditions(table, expressions, filter);
      const place = typeof after?.value === 'string' ? expressions.text(after.value) : after?.value;
      const afterId = after && expressions.text(after.id);
      const parameters = addParameters([], conditions);
      if (afterId !== undefined) parameters.push(...(isById ? [] : [place]), afterId);
      parameters.push(limit, ...(offset > 0 ? [offset] : []));
      const page = `${afterId === undefined ? '' : ' after'}${offset > 0 ? ' offset' : ''}`;
      const shape = `find ${getShape(conditions)} by ${column.name} ${order.direction}${page}`;
      const statements = followsIndex(table, conditions, column) ? prepared : planned;
      return statements.get(shape, parameters, () => {
        const direction = sql.raw(order.direction);
        const isBeyond = sql.raw(order.direction === 'asc' ? '>' : '<');
        const field = column.ref;
        const inOrder = isById
          ? sql`id ${direction}`
          : sql`${field} ${expressions.direction(order.direction)}, id ${direction}`;
        const isAfter = isById
          ? sql` and id ${isBeyond} ${afterId}`
          : sql` and (${field}, id) ${isBeyond} (${place}, ${afterId})`;
        return sql`select ${RECORD} from ${name}
          where ${compileConditions(table, expressions, conditions)}${afterId === undefined ? NOTHING : isAfter}
          order by ${inOrder} limit ${limit}${offset > 0 ? sql` offset ${offset}` : NOTHING}`;
      });
    },

    count(filter: Filter<StoredRecord>): SqlStatement {
      const conditions = readConditions(table, expressions, filter);
      return planned.get(
        `count ${getShape(conditions)}`,
        addParameters([], conditions),
        () => sql`select count(*) as count from ${name}
          where ${compileConditions(table, expressions, conditions)}`,
      );
    },
  };
}

/**
 * Whether an index has the list of one owner or parent in its order. Other values, such as a status, may have most of the records:
 * their plan depends on the limit.
 */
function followsIndex(table: Table, { comparisons, anyOf }: Conditions, order: Column): boolean {
  if (anyOf.length > 0 || comparisons.some(({ operator }) => operator !== 'equals')) return false;
  return [...table.unique, ...table.indexes].some(
    ([first, second]) =>
      second === order &&
      first?.field.endsWith('Id') === true &&
      comparisons.some(({ column }) => column === first),
  );
}

/** @throws RangeError unless it is 1 to 1,000. */
export function assertLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_RECORDS) {
    throw new RangeError(`a limit of ${limit} is not within 1..${MAX_RECORDS}`);
  }
}
