/*
 * The engines' codes for constraint violations: SQLite by its extended result code (https://www.sqlite.org/rescode.html),
 * PostgreSQL by its SQLSTATE.
 */

/** Primary key, unique index, row id; unique_violation. */
const UNIQUE: ReadonlySet<unknown> = new Set([1555, 2067, 2579, '23505']);
/** check_violation. */
const CHECK: ReadonlySet<unknown> = new Set([275, '23514']);

export function isUniqueViolation(error: unknown): boolean {
  return UNIQUE.has(getCode(error));
}

export function isCheckViolation(error: unknown): boolean {
  return CHECK.has(getCode(error));
}

function getCode(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  if ('errcode' in error) return error.errcode;
  return 'code' in error ? error.code : undefined;
}

/** PostgreSQL only: division_by_zero. */
export function isDivisionByZero(error: unknown): boolean {
  return getCode(error) === '22012';
}
