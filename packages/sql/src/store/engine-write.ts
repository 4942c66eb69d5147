import type { EngineWrite } from '@questline/core/ports';
import { type RawBuilder, sql } from 'kysely';
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

/** A statement as a part of another one. */
export function toRaw({ sql: text, parameters }: SqlStatement): RawBuilder<unknown> {
  const fragments: string[] = [];
  const values: unknown[] = [];
  let end = 0;
  for (const { 0: placeholder, index } of text.matchAll(/\$\d+|\?/g)) {
    fragments.push(text.slice(end, index));
    values.push(parameters[placeholder === '?' ? values.length : Number(placeholder.slice(1)) - 1]);
    end = index + placeholder.length;
  }
  fragments.push(text.slice(end));
  // One node instead of one for each part: a settlement has fifty.
  return sql(Object.assign(fragments, { raw: fragments }), ...values);
}
