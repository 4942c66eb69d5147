import type { Comparable } from './compare.ts';
import { type AnyFilter, type AnyRecord, pinnedValue } from './filter.ts';
import { type Bound, createSortedKeys, type SortedKeys, type SortKey } from './sorted.ts';

/** A sorted index of all records. The index without fields is sorted by id. */
export interface Index {
  readonly fields: readonly string[];
  /** Number of leading fields that must be fixed so that every record occurs exactly once. */
  readonly minPinned: number;
  readonly keys: SortedKeys;
}

/** A range of an index that contains every record that a filter can match. */
export interface IndexPath {
  readonly index: Index;
  /** The fixed leading values. */
  readonly pinned: SortKey;
  /** Ranks: the first inside and the first after the range. */
  readonly low: number;
  readonly high: number;
  /** True: every record in the range matches. */
  readonly isExact: boolean;
  /** True: the range is in the requested order. */
  readonly isOrdered: boolean;
}

export function createIndex(fields: readonly string[], isList: (field: string) => boolean): Index {
  return { fields, minPinned: fields.findLastIndex(isList) + 1, keys: createSortedKeys() };
}

/** Returns the keys of a record: one, or one for each member of a list. */
export function getKeys(index: Index, record: AnyRecord): SortKey[] {
  if (index.minPinned === 0) return [plainKey(index.fields, record)];
  let keys: SortKey[] = [[]];
  for (const field of index.fields) {
    const member = record[field] ?? null;
    const values = Array.isArray(member) ? [...new Set<Comparable>(member)] : [member as Comparable];
    keys = keys.flatMap((key) => values.map((value) => [...key, value]));
  }
  return keys.map((key) => [...key, record.id]);
}

/** Fast path: without lists there is exactly one key. This runs once per index and write. */
function plainKey(fields: readonly string[], record: AnyRecord): SortKey {
  const key: Comparable[] = [];
  for (const field of fields) key.push((record[field] ?? null) as Comparable);
  key.push(record.id);
  return key;
}

/** Returns the range of an index for a filter, or undefined if the index does not help. */
export function getPath(index: Index, filter: AnyFilter, orderField: string): IndexPath | undefined {
  const pinned: Comparable[] = [];
  for (const field of index.fields) {
    const value = pinnedValue(filter.conditions.get(field));
    if (value === undefined) break;
    pinned.push(value);
  }
  if (pinned.length < index.minPinned) return undefined;

  const next = index.fields[pinned.length] ?? 'id';
  const range = parseRange(filter, next, pinned);
  const low = index.keys.rank(range.low);
  const high = Math.max(low, index.keys.rank(range.high));
  const used = pinned.length + (range.isUsed ? 1 : 0);
  const isExact = used === filter.conditions.size && filter.anyOf === undefined;
  // After the fixed fields, the index must be sorted by the requested field and then by id.
  const isLast = next === 'id' || pinned.length + 1 === index.fields.length;
  const isPinned = index.fields.indexOf(orderField) >= 0 && index.fields.indexOf(orderField) < pinned.length;
  const isOrdered = isLast && next === (isPinned ? 'id' : orderField);
  return { index, pinned, low, high, isExact, isOrdered };
}

/** Returns the bounds of the field after the fixed ones. */
function parseRange(
  filter: AnyFilter,
  field: string,
  pinned: SortKey,
): { low: Bound; high: Bound; isUsed: boolean } {
  let low: Bound = { prefix: pinned, side: 'before' };
  let high: Bound = { prefix: pinned, side: 'behind' };
  const condition = filter.conditions.get(field);
  if (condition === undefined || condition === null || typeof condition !== 'object') {
    return { low, high, isUsed: false };
  }
  const { lt, lte, gt, gte } = condition;
  const isUsed = [lt, lte, gt, gte].filter((value) => value !== undefined).length > 0;
  if (!isUsed) return { low, high, isUsed };
  // A range excludes absent fields; null sorts first.
  low = { prefix: [...pinned, null], side: 'behind' };
  if (gte !== undefined) low = { prefix: [...pinned, gte], side: 'before' };
  if (gt !== undefined) low = { prefix: [...pinned, gt], side: 'behind' };
  if (lte !== undefined) high = { prefix: [...pinned, lte], side: 'behind' };
  if (lt !== undefined) high = { prefix: [...pinned, lt], side: 'before' };
  const isWhole = (gt === undefined || gte === undefined) && (lt === undefined || lte === undefined);
  return { low, high, isUsed: isWhole };
}
