import type { CollectionDefinition, Filter, StoredRecord } from '../ports/store.ts';
import { type Comparable, compareValues } from './compare.ts';

/** An untyped condition. */
type AnyCondition =
  | Comparable
  | {
      readonly in?: readonly Comparable[];
      readonly not?: Comparable;
      readonly lt?: Comparable;
      readonly lte?: Comparable;
      readonly gt?: Comparable;
      readonly gte?: Comparable;
      readonly contains?: string;
      readonly has?: string;
    };

/** An untyped filter: all conditions must match, and one of the alternatives, if any. */
export interface AnyFilter {
  readonly conditions: ReadonlyMap<string, AnyCondition>;
  readonly anyOf: readonly AnyFilter[] | undefined;
}

export type AnyRecord = StoredRecord & Readonly<Record<string, unknown>>;

const OPERATORS: ReadonlySet<string> = new Set(['in', 'not', 'lt', 'lte', 'gt', 'gte', 'contains', 'has']);
const EVERYTHING: AnyFilter = { conditions: new Map(), anyOf: undefined };

/**
 * Parses a filter. Throws a `TypeError` for a field that is not a column and for an undefined condition: ignoring it
 * would expose the records of other owners.
 */
export function readFilter<R extends StoredRecord>(
  definition: CollectionDefinition<R>,
  filter: Filter<R> | undefined,
): AnyFilter {
  if (filter === undefined) return EVERYTHING;
  const conditions = new Map<string, AnyCondition>();
  let anyOf: readonly AnyFilter[] | undefined;
  for (const [field, condition] of Object.entries(filter)) {
    if (field === 'anyOf') {
      anyOf = (condition as readonly Filter<R>[]).map((alternative) => readFilter(definition, alternative));
      continue;
    }
    assertColumn(definition, field);
    conditions.set(field, readCondition(field, condition));
  }
  return { conditions, anyOf };
}

export function assertColumn<R extends StoredRecord>(
  definition: CollectionDefinition<R>,
  field: string,
): void {
  if (field !== 'id' && !Object.hasOwn(definition.columns, field)) {
    throw new TypeError(`${field} is not a column of ${definition.name}`);
  }
}

function readCondition(field: string, condition: unknown): AnyCondition {
  switch (typeof condition) {
    case 'string':
    case 'number':
    case 'boolean':
      return condition;
    case 'object':
      if (condition === null || hasOnlyOperators(condition)) return condition as AnyCondition;
  }
  throw new TypeError(`invalid condition on ${field}`);
}

function hasOnlyOperators(condition: object): boolean {
  const names = Object.keys(condition);
  for (const name of names) {
    if (!OPERATORS.has(name) || condition[name as keyof typeof condition] === undefined) return false;
  }
  return names.length > 0;
}

/**
 * `readFilter` and `matches` in one pass, for a single record. Reads all conditions, also of a record that does not match:
 * the errors are the same.
 */
export function matchesGuard<R extends StoredRecord>(
  definition: CollectionDefinition<R>,
  record: AnyRecord | undefined,
  guard: Filter<R>,
): boolean {
  let isMatch = record !== undefined;
  for (const field of Object.keys(guard)) {
    const condition: unknown = guard[field as keyof typeof guard];
    let holdsHere = false;
    if (field === 'anyOf') {
      for (const alternative of condition as readonly Filter<R>[]) {
        if (matchesGuard(definition, record, alternative)) holdsHere = true;
      }
    } else {
      assertColumn(definition, field);
      holdsHere = holds(record?.[field], readCondition(field, condition));
    }
    if (!holdsHere) isMatch = false;
  }
  return isMatch;
}

export function matches(record: AnyRecord | undefined, filter: AnyFilter): boolean {
  if (record === undefined) return false;
  for (const [field, condition] of filter.conditions) {
    if (!holds(record[field], condition)) return false;
  }
  return filter.anyOf === undefined || filter.anyOf.some((alternative) => matches(record, alternative));
}

function holds(member: unknown, condition: AnyCondition): boolean {
  if (condition === null || typeof condition !== 'object') return (member ?? null) === condition;
  if (condition.has !== undefined) return Array.isArray(member) && member.includes(condition.has);
  const value = (member ?? null) as Comparable;
  if (condition.not !== undefined) return value !== condition.not;
  if (value === null) return false;
  if (condition.in !== undefined) return condition.in.includes(value);
  if (condition.contains !== undefined) {
    return typeof value === 'string' && value.toLowerCase().includes(condition.contains.toLowerCase());
  }
  const { lt, lte, gt, gte } = condition;
  return (
    (lt === undefined || compareValues(value, lt) < 0) &&
    (lte === undefined || compareValues(value, lte) <= 0) &&
    (gt === undefined || compareValues(value, gt) > 0) &&
    (gte === undefined || compareValues(value, gte) >= 0)
  );
}

/** Returns the value that a condition requires, or the required list member; undefined for other conditions. */
export function pinnedValue(condition: AnyCondition | undefined): Comparable | undefined {
  if (condition === null || typeof condition !== 'object') return condition;
  return condition.has;
}
