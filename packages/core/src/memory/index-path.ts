import type { Comparable } from './compare.ts';
import { type AnyFilter, type AnyRecord, pinnedValue } from './filter.ts';
import { type Bound, createSortedKeys, type SortedKeys, type SortKey } from './sorted.ts';

/** An order kept over all records. The one without fields is the order of ids. */
export interface Index {
  readonly fields: readonly string[];
  /** How many fields from the left must be pinned before every record stands in the index exactly once. */
  readonly leastPinned: number;
  readonly keys: SortedKeys;
}

/** A stretch of an index that holds every record a filter can match. */
export interface IndexPath {
  readonly index: Index;
  /** The values its keys begin with. */
  readonly pinned: SortKey;
  /** Ranks: the first inside and the first behind. */
  readonly low: number;
  readonly high: number;
  /** Every record on it matches: nothing is left to check. */
  readonly isExact: boolean;
  /** It stands in the wanted order already. */
  readonly isOrdered: boolean;
}

export function createIndex(fields: readonly string[], isList: (field: string) => boolean): Index {
  return { fields, leastPinned: fields.findLastIndex(isList) + 1, keys: createSortedKeys() };
}

/** The keys a record stands under: one, or one for each member of a list. */
export function keysOf(index: Index, record: AnyRecord): SortKey[] {
  if (index.leastPinned === 0) return [plainKey(index.fields, record)];
  let keys: SortKey[] = [[]];
  for (const field of index.fields) {
    const member = record[field] ?? null;
    const values = Array.isArray(member) ? [...new Set<Comparable>(member)] : [member as Comparable];
    keys = keys.flatMap((key) => values.map((value) => [...key, value]));
  }
  return keys.map((key) => [...key, record.id]);
}

/** Without lists there is exactly one key; this runs once per index of every write. */
function plainKey(fields: readonly string[], record: AnyRecord): SortKey {
  const key: Comparable[] = [];
  for (const field of fields) key.push((record[field] ?? null) as Comparable);
  key.push(record.id);
  return key;
}

/** How an index would serve a filter. Undefined when it cannot. */
export function pathOf(index: Index, filter: AnyFilter, orderField: string): IndexPath | undefined {
  const pinned: Comparable[] = [];
  for (const field of index.fields) {
    const value = pinnedValue(filter.conditions.get(field));
    if (value === undefined) break;
    pinned.push(value);
  }
  if (pinned.length < index.leastPinned) return undefined;

  const next = index.fields[pinned.length] ?? 'id';
  const range = rangeOf(filter, next, pinned);
  const low = index.keys.rank(range.low);
  const high = Math.max(low, index.keys.rank(range.high));
  const used = pinned.length + (range.isUsed ? 1 : 0);
  const isExact = used === filter.conditions.size && filter.anyOf === undefined;
  // Behind the pinned fields the order must be the wanted field and then the id, nothing between.
  const isLast = next === 'id' || pinned.length + 1 === index.fields.length;
  const isPinned = index.fields.indexOf(orderField) >= 0 && index.fields.indexOf(orderField) < pinned.length;
  const isOrdered = isLast && next === (isPinned ? 'id' : orderField);
  return { index, pinned, low, high, isExact, isOrdered };
}

/** The bounds that the conditions on the field behind the pinned ones allow. */
function rangeOf(
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
  // An absent field is in no range, and null comes first.
  low = { prefix: [...pinned, null], side: 'behind' };
  if (gte !== undefined) low = { prefix: [...pinned, gte], side: 'before' };
  if (gt !== undefined) low = { prefix: [...pinned, gt], side: 'behind' };
  if (lte !== undefined) high = { prefix: [...pinned, lte], side: 'behind' };
  if (lt !== undefined) high = { prefix: [...pinned, lt], side: 'before' };
  const isWhole = (gt === undefined || gte === undefined) && (lt === undefined || lte === undefined);
  return { low, high, isUsed: isWhole };
}
