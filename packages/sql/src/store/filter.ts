import { type Expression, type SqlBool, sql } from 'kysely';
import type { DialectExpressions } from './expressions.ts';
import { type Column, getColumn, type Table } from './table.ts';

type Bool = Expression<SqlBool>;

const EVERYTHING: Bool = sql`1 = 1`;
const NOTHING: Bool = sql`1 = 0`;
const COMPARISONS = { lt: sql.raw('<'), lte: sql.raw('<='), gt: sql.raw('>'), gte: sql.raw('>=') } as const;

/**
 * Converts a filter to one SQL condition.
 * @throws TypeError for a field without a column, and for an `undefined` condition: ignoring it
 * would expose the records of other owners.
 */
export function compileFilter(
  table: Table,
  expressions: DialectExpressions,
  filter: object | undefined,
): Bool {
  const parts = Object.entries(filter ?? {}).map(([field, condition]) => {
    if (field !== 'anyOf') return compileCondition(table, getColumn(table, field), expressions, condition);
    const alternatives = condition as readonly object[];
    const options = alternatives.map((alternative) => compileFilter(table, expressions, alternative));
    return options.length === 0 ? NOTHING : sql<SqlBool>`(${sql.join(options, sql` or `)})`;
  });
  return parts.length === 0 ? EVERYTHING : sql`(${sql.join(parts, sql` and `)})`;
}

function compileCondition(
  table: Table,
  column: Column,
  expressions: DialectExpressions,
  condition: unknown,
): Bool {
  const ref = sql.ref(column.name);
  if (condition === null) return sql`${ref} is null`;
  if (typeof condition !== 'object') return sql`${ref} = ${getOperand(column, expressions, condition)}`;
  const parts = Object.entries(condition).map(([operator, operand]): Bool => {
    switch (operator) {
      case 'in': {
        const values = (operand as readonly unknown[]).map((value) => getOperand(column, expressions, value));
        return expressions.oneOf(ref, values);
      }
      case 'not':
        return operand === null
          ? sql`${ref} is not null`
          : sql`${ref} is distinct from ${getOperand(column, expressions, operand)}`;
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
        return sql`${ref} ${COMPARISONS[operator]} ${getOperand(column, expressions, operand)}`;
      case 'contains':
      case 'has': {
        if (typeof operand !== 'string') throw new TypeError(`${column.field}: '${operator}' wants text`);
        const text = expressions.text(operand);
        return operator === 'has' ? expressions.has(table, column, text) : expressions.contains(ref, text);
      }
      default:
        throw new TypeError(`${column.field}: there is no condition '${operator}'`);
    }
  });
  if (parts.length === 0) throw new TypeError(`invalid condition on ${column.field}`);
  return sql`(${sql.join(parts, sql` and `)})`;
}

const TYPES = { text: 'string', integer: 'number', boolean: 'boolean', list: undefined } as const;

function getOperand(
  column: Column,
  expressions: DialectExpressions,
  value: unknown,
): string | number | boolean {
  if (typeof value !== TYPES[column.type]) {
    throw new TypeError(
      `${column.field} is of type ${column.type}; it cannot be compared with a ${typeof value}`,
    );
  }
  return typeof value === 'string' ? expressions.text(value) : (value as number | boolean);
}
