import type { SqlDialect } from '../database.ts';

/**
 * JSON text as the engine takes it. PostgreSQL's jsonb knows neither U+0000 nor lone surrogates: both are kept as U+FFFD
 * there.
 */
export function toJsonText(value: unknown, dialect: SqlDialect): string {
  const text = JSON.stringify(value);
  // Well-formed JSON writes both as \u escapes, which are rare: only then is a second look worth its time.
  if (dialect === 'sqlite' || !/\\u(?:0000|d[89a-f])/i.test(text)) return text;
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'string' ? storable(member) : member,
  );
}

/** A text parameter as PostgreSQL takes it. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** JSON is always asked for as text: what a driver makes of its own JSON types depends on settings that are not ours. */
export function fromJson<T>(text: unknown): T {
  return JSON.parse(String(text)) as T;
}
