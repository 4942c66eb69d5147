import { createHash } from 'node:crypto';
import type { SqlDialect } from './database.ts';

/** SQL text with its values, as the engine takes them. What Kysely compiles to has this shape too. */
export interface SqlStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** PostgreSQL keeps the plan under this name, once per connection. Equal names mean equal texts. */
  readonly name?: string;
}

/** A value that both engines can bind. Objects travel as JSON text, lists reach SQLite as JSON text too. */
export type SqlValue = string | number | boolean | null | readonly string[] | readonly number[] | Uint8Array;

/** One row, by column name. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Writes a statement once, with `@name` where a value goes, and makes it ready for the engine's own placeholders, so
 * that a call only lines up its values.
 * @returns makes the statement of one call; a missing value is NULL.
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

/** 16 hexadecimal characters that stand for a text. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Both drivers hand 64-bit integers over in their own way: as text, as numbers, as bigints. */
export function toNumber(value: unknown): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw new RangeError(`${String(value)} is beyond what is counted exactly`);
  return number;
}
