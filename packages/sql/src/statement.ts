import { createHash } from 'node:crypto';
import type { SqlDialect } from './database.ts';

/** SQL text with its values, in the engine's format. */
export interface SqlStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** PostgreSQL prepares the statement under this name, once per connection. Equal names mean equal texts. */
  readonly name?: string;
  /**
   * A row that many statements change at once, e.g. a busy account. On PostgreSQL those of one process run one after another,
   * so that none holds a connection while it waits for the lock of another.
   */
  readonly row?: string;
}

/** A value that both engines can bind. Objects travel as JSON text, lists reach SQLite as JSON text too. */
export type SqlValue = string | number | boolean | null | readonly string[] | readonly number[] | Uint8Array;

/** One row, by column name. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Compiles a statement with `@name` placeholders once to the engine's placeholders, so
 * that a call only orders its values.
 * @returns a function that builds the statement of one call; a missing value is NULL.
 */
export function defineStatement<Name extends string>(
  dialect: SqlDialect,
  text: string,
): (values: { readonly [K in Name]?: SqlValue | undefined }) => SqlStatement {
  const order: string[] = [];
  const sql = text.replace(/@([a-z]\w*)/gi, (_, name: string) => {
    // SQLite's numbered placeholders cannot be bound by position before Node 24: a name used twice is bound twice.
    if (dialect === 'sqlite') {
      order.push(name);
      return '?';
    }
    const known = order.indexOf(name);
    return `$${known < 0 ? order.push(name) : known + 1}`;
  });
  const name = `questline_${fingerprint(sql)}`;
  return (values) => ({
    sql,
    name,
    parameters: order.map((key) => (values as Record<string, SqlValue | undefined>)[key] ?? null),
  });
}

/** Maximum number of prepared texts of one store: each connection keeps them. */
const MAX_PREPARED = 500;

/** Names compiled statements by their text. Statements beyond the maximum stay unnamed. */
export function createNaming(): (statement: SqlStatement) => SqlStatement {
  const names = new Map<string, string>();
  return ({ sql, parameters }) => {
    let name = names.get(sql);
    if (name === undefined) {
      if (names.size >= MAX_PREPARED) return { sql, parameters };
      name = `questline_${fingerprint(sql)}`;
      names.set(sql, name);
    }
    return { sql, parameters, name };
  };
}

/** A hash of a text: 16 hexadecimal characters. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Drivers return 64-bit integers as text, numbers or bigints. */
export function toNumber(value: unknown): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw new RangeError(`${String(value)} is beyond what is counted exactly`);
  return number;
}
