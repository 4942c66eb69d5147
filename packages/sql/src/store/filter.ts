import type { DialectExpressions } from './expressions.ts';
import { type Fragment, sql } from './fragments.ts';
import { type Column, getColumn, type Table } from './table.ts';

const EVERYTHING: Fragment = sql`1 = 1`;
const NOTHING: Fragment = sql`1 = 0`;
const COMPARISONS = { lt: sql.raw('<'), lte: sql.raw('<='), gt: sql.raw('>'), gte: sql.raw('>=') } as const;

type Operator =
  | 'is null'
  | 'is not null'
  | 'equals'
  | 'differs'
  | 'in'
  | 'contains'
  | 'has'
  | keyof typeof COMPARISONS;

/** One comparison of a column. */
interface Comparison {
  readonly column: Column;
  readonly operator: Operator;
  /** The parameter, as the engine binds it. Undefined: the operator has none. */
  readonly value: string | number | boolean | readonly unknown[] | undefined;
}

/** The conditions of a filter, checked. All must be true, and of each list in `anyOf` at least one. */
export interface Conditions {
  readonly comparisons: readonly Comparison[];
  readonly anyOf: readonly (readonly Conditions[])[];
}

/**
 * Converts a filter to one SQL condition.
 * @throws TypeError for a field without a column, and for an `undefined` condition: ignoring it
 * would expose the records of other owners.
 */
export function compileFilter(
  table: Table,
  expressions: DialectExpressions,
  filter: object | undefined,
): Fragment {
  return compileConditions(table, expressions, readConditions(table, expressions, filter));
}

/** The first step of `compileFilter`: checks the filter. @throws TypeError as `compileFilter`. */
export function readConditions(
  table: Table,
  expressions: DialectExpressions,
  filter: object | undefined,
): Conditions {
  const comparisons: Comparison[] = [];
  const anyOf: (readonly Conditions[])[] = [];
  for (const [field, condition] of Object.entries(filter ?? {})) {
    if (field === 'anyOf') {
      const alternatives = condition as readonly object[];
      anyOf.push(alternatives.map((alternative) => readConditions(table, expressions, alternative)));
    } else readCondition(comparisons, getColumn(table, field), expressions, condition);
  }
  return { comparisons, anyOf };
}

/** The second step of `compileFilter`. */
export function compileConditions(
  table: Table,
  expressions: DialectExpressions,
  { comparisons, anyOf }: Conditions,
): Fragment {
  const parts = comparisons.map((comparison) => compileComparison(table, expressions, comparison));
  for (const alternatives of anyOf) {
    const options = alternatives.map((alternative) => compileConditions(table, expressions, alternative));
    parts.push(options.length === 0 ? NOTHING : sql`(${sql.join(options, sql` or `)})`);
  }
  return parts.length === 0 ? EVERYTHING : sql`(${sql.join(parts, sql` and `)})`;
}

/** Equal for conditions with the same SQL text. */
export function getShape({ comparisons, anyOf }: Conditions): string {
  let shape = '';
  for (const { column, operator } of comparisons) shape += `${column.name} ${operator},`;
  for (const alternatives of anyOf)
    shape += `${alternatives.length}(${alternatives.map(getShape).join('|')})`;
  return shape;
}

/** Appends the parameters, in the order of the SQL text. @returns the list. */
export function addParameters(parameters: unknown[], { comparisons, anyOf }: Conditions): unknown[] {
  for (const { value } of comparisons) if (value !== undefined) parameters.push(value);
  for (const alternatives of anyOf) {
    for (const alternative of alternatives) addParameters(parameters, alternative);
  }
  return parameters;
}

function readCondition(
  comparisons: Comparison[],
  column: Column,
  expressions: DialectExpressions,
  condition: unknown,
): void {
  const add = (operator: Operator, value?: Comparison['value']): void => {
    comparisons.push({ column, operator, value });
  };
  if (condition === null) {
    add('is null');
    return;
  }
  if (typeof condition !== 'object') {
    add('equals', getOperand(column, expressions, condition));
    return;
  }
  const parts = Object.entries(condition);
  for (const [operator, operand] of parts) {
    switch (operator) {
      case 'in': {
        const values = (operand as readonly unknown[]).map((value) => getOperand(column, expressions, value));
        add('in', expressions.list(values));
        break;
      }
      case 'not':
        if (operand === null) add('is not null');
        else add('differs', getOperand(column, expressions, operand));
        break;
      case 'lt':
      case 'lte':
      case 'gt':
      case 'gte':
        add(operator, getOperand(column, expressions, operand));
        break;
      case 'contains':
      case 'has':
        if (typeof operand !== 'string') throw new TypeError(`${column.field}: '${operator}' wants text`);
        add(operator, operator === 'has' ? expressions.text(operand) : expressions.pattern(operand));
        break;
      default:
        throw new TypeError(`${column.field}: there is no condition '${operator}'`);
    }
  }
  if (parts.length === 0) throw new TypeError(`invalid condition on ${column.field}`);
}

function compileComparison(
  table: Table,
  expressions: DialectExpressions,
  { column, operator, value }: Comparison,
): Fragment {
  const { ref } = column;
  switch (operator) {
    case 'is null':
      return sql`${ref} is null`;
    case 'is not null':
      return sql`${ref} is not null`;
    case 'equals':
      return sql`${ref} = ${value}`;
    case 'differs':
      return sql`${ref} is distinct from ${value}`;
    case 'in':
      return expressions.oneOf(ref, value);
    case 'contains':
      return expressions.contains(ref, String(value));
    case 'has':
      return expressions.has(table, column, String(value));
    default:
      return sql`${ref} ${COMPARISONS[operator]} ${value}`;
  }
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
