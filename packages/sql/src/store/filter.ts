import { type Expression, type SqlBool, sql } from 'kysely';
import { type Column, columnOf, type Table } from './table.ts';
import type { Wording } from './wording.ts';

type Bool = Expression<SqlBool>;

const EVERYTHING: Bool = sql`1 = 1`;
const NOTHING: Bool = sql`1 = 0`;
const COMPARISONS = { lt: sql.raw('<'), lte: sql.raw('<='), gt: sql.raw('>'), gte: sql.raw('>=') } as const;

/**
 * A filter as one SQL condition.
 * @throws TypeError for a field that is no column, and for a condition that is `undefined`: leaving one out in silence
 * would show one owner the records of another.
 */
export function compileFilter(table: Table, wording: Wording, filter: object | undefined): Bool {
  const parts = Object.entries(filter ?? {}).map(([field, condition]) => {
    if (field !== 'anyOf') return compileCondition(columnOf(table, field), wording, condition);
    const alternatives = condition as readonly object[];
    const options = alternatives.map((alternative) => compileFilter(table, wording, alternative));
    return options.length === 0 ? NOTHING : sql<SqlBool>`(${sql.join(options, sql` or `)})`;
  });
  return parts.length === 0 ? EVERYTHING : sql`(${sql.join(parts, sql` and `)})`;
}

function compileCondition(column: Column, wording: Wording, condition: unknown): Bool {
  const ref = sql.ref(column.name);
  if (condition === null) return sql`${ref} is null`;
  if (typeof condition !== 'object') return sql`${ref} = ${operandOf(column, wording, condition)}`;
  const parts = Object.entries(condition).map(([operator, operand]): Bool => {
    switch (operator) {
      case 'in': {
        const values = (operand as readonly unknown[]).map((value) => operandOf(column, wording, value));
        return wording.oneOf(ref, values);
      }
      case 'not':
        return operand === null
          ? sql`${ref} is not null`
          : sql`${ref} is distinct from ${operandOf(column, wording, operand)}`;
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
        return sql`${ref} ${COMPARISONS[operator]} ${operandOf(column, wording, operand)}`;
      case 'contains':
      case 'has':
        if (typeof operand !== 'string') throw new TypeError(`${column.field}: '${operator}' wants text`);
        return wording[operator](ref, wording.text(operand));
      default:
        throw new TypeError(`${column.field}: there is no condition '${operator}'`);
    }
  });
  if (parts.length === 0) throw new TypeError(`the condition on ${column.field} is none`);
  return sql`(${sql.join(parts, sql` and `)})`;
}

const TYPES = { text: 'string', integer: 'number', boolean: 'boolean', list: undefined } as const;

function operandOf(column: Column, wording: Wording, value: unknown): string | number | boolean {
  if (typeof value !== TYPES[column.type]) {
    throw new TypeError(
      `${column.field} is of type ${column.type}; it cannot be compared with a ${typeof value}`,
    );
  }
  return typeof value === 'string' ? wording.text(value) : (value as number | boolean);
}
