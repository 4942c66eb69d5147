import type { SqlDialect } from '../database.ts';

/**
 * JSON text in the engine's format. PostgreSQL's jsonb supports neither U+0000 nor lone surrogates: both become U+FFFD
 * there.
 */
export function toJsonText(value: unknown, dialect: SqlDialect): string {
  const text = JSON.stringify(value);
  // Well-formed JSON contains both only as \u escapes, which are rare, so most texts need no second check.
  if (dialect === 'sqlite' || !/\\u(?:0000|d[89a-f])/i.test(text)) return text;
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'string' ? storable(member) : member,
  );
}

/** A text parameter for PostgreSQL. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** Always selects JSON as text: how a driver parses JSON types depends on settings of the host. */
export function fromJson<T>(text: unknown): T {
  return JSON.parse(String(text)) as T;
}
