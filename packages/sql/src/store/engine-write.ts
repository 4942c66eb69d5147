import type { EngineWrite } from '@questline/core/ports';
import type { SqlDatabase, SqlDialect } from '../database.ts';
import { defineStatement, type SqlStatement, type SqlValue } from '../statement.ts';

/** Builds a statement that has an effect only under an SQL condition. It returns one row if it had an effect. */
export type ConditionalStatement = (condition: string) => SqlStatement;

/** Each condition is compiled once; there are few. */
export function defineConditional<Name extends string>(
  dialect: SqlDialect,
  toText: (condition: string) => string,
) {
  type Values = { readonly [K in Name]: SqlValue };
  const known = new Map<string, (values: Values) => SqlStatement>();
  return (values: Values): ConditionalStatement =>
    (condition) => {
      const define = known.get(condition) ?? defineStatement<Name>(dialect, toText(condition));
      known.set(condition, define);
      return define(values);
    };
}

/** The work of a write of this package. */
export interface EngineWork {
  readonly toStatement: ConditionalStatement;
  /** A condition without which the statement has no effect. */
  readonly expected: SqlStatement;
  /** PostgreSQL only: CTEs that come before the statement, under the condition. */
  readonly ctes?: ConditionalStatement;
  /** The busy row that it changes. */
  readonly row?: string;
}

export function toEngineWrite(
  database: SqlDatabase,
  work: EngineWork,
  applied: () => void = () => undefined,
): EngineWrite {
  return { do: 'engine', engine: database, work, applied };
}
