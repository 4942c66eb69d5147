/** A record without its type. */
export type Plain = { readonly id: string } & Readonly<Record<string, unknown>>;

type Operators = Partial<Record<'in' | 'not' | 'lt' | 'lte' | 'gt' | 'gte' | 'contains' | 'has', unknown>>;

/** Whether a record matches a filter; `Condition` in `@questline/core` defines the rules. */
export function matches(record: Plain, filter: Readonly<Record<string, unknown>> = {}): boolean {
  return Object.entries(filter).every(([field, condition]) =>
    field === 'anyOf'
      ? (condition as Record<string, unknown>[]).some((alternative) => matches(record, alternative))
      : holds(record[field] ?? null, condition),
  );
}

function holds(value: unknown, condition: unknown): boolean {
  if (condition === null || typeof condition !== 'object') return value === condition;
  const { not, has, contains, lt, lte, gt, gte, in: among } = condition as Operators;
  if (has !== undefined) return Array.isArray(value) && value.includes(has);
  if (not !== undefined) return value !== not;
  if (value === null) return false;
  if (among !== undefined) return (among as unknown[]).includes(value);
  if (contains !== undefined) {
    return typeof value === 'string' && value.toLowerCase().includes(String(contains).toLowerCase());
  }
  return (
    (lt === undefined || compare(value, lt) < 0) &&
    (lte === undefined || compare(value, lte) <= 0) &&
    (gt === undefined || compare(value, gt) > 0) &&
    (gte === undefined || compare(value, gte) >= 0)
  );
}

/**
 * Rejects conditions that are undefined, which would match records of other owners, and fields that are not
 * columns.
 */
export function checkFilter(columns: object, filter: Readonly<Record<string, unknown>> = {}): void {
  for (const [field, condition] of Object.entries(filter)) {
    if (field === 'anyOf') {
      for (const alternative of condition as Record<string, unknown>[]) checkFilter(columns, alternative);
    } else if (field !== 'id' && !Object.hasOwn(columns, field)) {
      throw new TypeError(`${field} is not a column`);
    } else if (
      condition === undefined ||
      (typeof condition === 'object' && condition !== null && isEmpty(condition))
    ) {
      throw new TypeError(`invalid condition on ${field}`);
    }
  }
}

function isEmpty(condition: object): boolean {
  const values = Object.values(condition);
  return values.length === 0 || values.includes(undefined);
}

/** Null first, false before true, numbers by size, text by code point. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}
