import type { CollectionDefinition, StoredRecord } from '../ports/store.ts';
import { type Comparable, compareValues } from './compare.ts';
import { type AnyFilter, type AnyRecord, matches, pinnedValue } from './filter.ts';
import { createIndex, type Index, type IndexPath, keysOf, pathOf } from './index-path.ts';

export interface Order {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

export interface Query {
  readonly filter: AnyFilter;
  readonly order: Order;
  readonly after?: { readonly value: string | number; readonly id: string } | undefined;
  readonly skip: number;
  readonly take: number;
}

/** The committed records of one collection, with its indexes and unique rules. Knows no transactions. */
export interface Table {
  get(id: string): AnyRecord | undefined;
  /** Puts, replaces or (with undefined) removes. The unique rules must have been asked before. */
  write(id: string, record: AnyRecord | undefined): void;
  /** The ids of other records that agree with this one in a unique rule. */
  conflicts(record: AnyRecord): readonly string[];
  /** @param except ids that count as absent. */
  select(query: Query, except?: ReadonlyMap<string, unknown>): AnyRecord[];
  count(filter: AnyFilter): number;
  /** Whether two records agree in a unique rule. */
  agree(a: AnyRecord, b: AnyRecord): boolean;
}

/** The few things a collection's verbs are made of: committed records, or those as one transaction sees them. */
export type Records = Pick<Table, 'get' | 'write' | 'conflicts' | 'count'> & {
  select(query: Query): AnyRecord[];
};

interface UniqueRule {
  readonly fields: readonly string[];
  readonly ids: Map<string, string>;
}

/** Where records that may match are found. */
interface Candidates {
  readonly count: number;
  /** All of them match. */
  readonly isExact: boolean;
  ids(): Iterable<string>;
}

/** Above so many candidates on one path, the alternatives of a filter are looked at one by one. */
const WORTH_SPLITTING = 64;

export function createTable<R extends StoredRecord>(definition: CollectionDefinition<R>): Table {
  const columns: Readonly<Record<string, string | undefined>> = definition.columns;
  const records = new Map<string, AnyRecord>();
  const indexes: Index[] = [[], ...definition.indexes].map((fields) =>
    createIndex(fields, (field) => columns[field] === 'list'),
  );
  const rules: UniqueRule[] = definition.unique.map((fields) => ({ fields, ids: new Map() }));

  const idsByRule = (filter: AnyFilter): readonly string[] | undefined => {
    const id = pinnedValue(filter.conditions.get('id'));
    if (typeof id === 'string') return [id];
    for (const { fields, ids } of rules) {
      const key = ruleKey(fields.map((field) => pinnedValue(filter.conditions.get(field))));
      if (key === undefined) continue;
      const found = ids.get(key);
      return found === undefined ? [] : [found];
    }
    return undefined;
  };

  /** Kept from the first question that needs an order: what is only looked up by id pays for none. */
  let isIndexed = false;

  const pathsOf = (filter: AnyFilter, orderField: string): IndexPath[] => {
    if (!isIndexed) {
      isIndexed = true;
      for (const record of records.values()) for (const index of indexes) enter(index, record);
    }
    return indexes.flatMap((index) => pathOf(index, filter, orderField) ?? []);
  };

  /** Where every record that may match is found, in no order: more than match, never less. */
  const gather = (filter: AnyFilter): Candidates => {
    const known = idsByRule(filter);
    if (known !== undefined) return { count: known.length, isExact: false, ids: () => known };
    const path = cheapest(pathsOf(filter, 'id'));
    const size = path === undefined ? records.size : sizeOf(path);
    if (size > WORTH_SPLITTING) {
      const parts = alternativesOf(filter)?.map(gather);
      const count = parts?.reduce((sum, part) => sum + part.count, 0);
      if (parts !== undefined && count !== undefined && count < size) {
        return { count, isExact: false, ids: () => new Set(parts.flatMap((part) => [...part.ids()])) };
      }
    }
    if (path === undefined) return { count: size, isExact: false, ids: () => records.keys() };
    return { count: size, isExact: path.isExact, ids: () => idsOn(path, path.low, path.high) };
  };

  const walkInOrder = (path: IndexPath, query: Query, except?: ReadonlyMap<string, unknown>): AnyRecord[] => {
    const { filter, order, after, take } = query;
    const isDown = order.direction === 'desc';
    let { low, high } = path;
    if (after !== undefined) {
      const next = path.index.fields[path.pinned.length];
      const place = [...path.pinned, ...(next === undefined ? [after.id] : [after.value, after.id])];
      if (isDown) high = Math.min(high, path.index.keys.rank({ prefix: place, side: 'before' }));
      else low = Math.max(low, path.index.keys.rank({ prefix: place, side: 'behind' }));
    }
    let skip = query.skip;
    if (path.isExact && except === undefined) {
      if (isDown) high -= skip;
      else low += skip;
      skip = 0;
    }
    const found: AnyRecord[] = [];
    if (high <= low || take <= 0) return found;
    for (const id of isDown ? idsOn(path, high, low) : idsOn(path, low, high)) {
      const record = records.get(id);
      if (record === undefined || except?.has(id) || !(path.isExact || matches(record, filter))) continue;
      if (skip > 0) skip -= 1;
      else if (found.push(record) === take) break;
    }
    return found;
  };

  return {
    get: (id) => records.get(id),

    write(id, record) {
      const old = records.get(id);
      if (isIndexed) {
        for (const index of indexes) {
          if (old !== undefined && record !== undefined && isSameIn(index.fields, old, record)) continue;
          if (old !== undefined) for (const key of keysOf(index, old)) index.keys.remove(key);
          if (record !== undefined) enter(index, record);
        }
      }
      for (const { fields, ids } of rules) {
        const oldKey = old && ruleKey(fields.map((field) => old[field]));
        if (oldKey !== undefined && ids.get(oldKey) === id) ids.delete(oldKey);
        const key = record && ruleKey(fields.map((field) => record[field]));
        if (key !== undefined) ids.set(key, id);
      }
      if (record === undefined) records.delete(id);
      else records.set(id, record);
    },

    conflicts(record) {
      if (rules.length === 0) return NOBODY;
      return rules.flatMap(({ fields, ids }) => {
        const key = ruleKey(fields.map((field) => record[field]));
        const holder = key === undefined ? undefined : ids.get(key);
        return holder === undefined || holder === record.id ? [] : [holder];
      });
    },

    select(query, except) {
      const { filter, order, after, skip, take } = query;
      const found = gather(filter);
      if (found.count > 1) {
        const isPinned = pinnedValue(filter.conditions.get(order.field)) !== undefined;
        const inOrder = pathsOf(filter, order.field).filter((path) => path.isOrdered);
        const path = after === undefined || !isPinned ? cheapest(inOrder) : undefined;
        // Read in order, only as much is read as was asked for; half of it all is a guess when some don't match.
        const cost = path && (path.isExact ? skip + take : sizeOf(path) / 2);
        if (path !== undefined && cost !== undefined && cost <= found.count) {
          return walkInOrder(path, query, except);
        }
      }
      const matching: AnyRecord[] = [];
      for (const id of found.ids()) {
        const record = records.get(id);
        if (record === undefined || except?.has(id) || !matches(record, filter)) continue;
        if (after === undefined || isAfter(record, after, order)) matching.push(record);
      }
      return matching.sort((a, b) => compareRecords(a, b, order)).slice(skip, skip + take);
    },

    count(filter) {
      const found = gather(filter);
      if (found.isExact) return found.count;
      let count = 0;
      for (const id of found.ids()) {
        const record = records.get(id);
        if (record !== undefined && matches(record, filter)) count += 1;
      }
      return count;
    },

    agree: (a, b) =>
      rules.some(({ fields }) => {
        const key = ruleKey(fields.map((field) => a[field]));
        return key !== undefined && key === ruleKey(fields.map((field) => b[field]));
      }),
  };
}

const NOBODY: readonly string[] = [];

function enter(index: Index, record: AnyRecord): void {
  for (const key of keysOf(index, record)) index.keys.insert(key);
}

/** In the order, then by id in the same direction. */
export function compareRecords(a: AnyRecord, b: AnyRecord, { field, direction }: Order): number {
  const order =
    compareValues((a[field] ?? null) as Comparable, (b[field] ?? null) as Comparable) ||
    compareValues(a.id, b.id);
  return direction === 'desc' ? -order : order;
}

export function isAfter(
  record: AnyRecord,
  after: { readonly value: string | number; readonly id: string },
  order: Order,
): boolean {
  const value = order.field === 'id' ? after.id : after.value;
  return compareRecords(record, { [order.field]: value, id: after.id }, order) > 0;
}

/** Two records agree in a rule when they have the same key; a null or absent field gives none. */
function ruleKey(values: readonly unknown[]): string | undefined {
  if (values.some((value) => value === undefined || value === null)) return undefined;
  return JSON.stringify(values);
}

function isSameIn(fields: readonly string[], a: AnyRecord, b: AnyRecord): boolean {
  return fields.every((field) => a[field] === b[field]);
}

function sizeOf(path: IndexPath): number {
  return path.high - path.low;
}

/** The shortest path; of equal ones, one that leaves nothing to check. */
function cheapest(paths: readonly IndexPath[]): IndexPath | undefined {
  let best: IndexPath | undefined;
  for (const path of paths) {
    const gain = best === undefined ? 1 : sizeOf(best) - sizeOf(path);
    if (gain > 0 || (gain === 0 && path.isExact && best?.isExact === false)) best = path;
  }
  return best;
}

function* idsOn(path: IndexPath, from: number, to: number): Generator<string> {
  for (const key of path.index.keys.walk(from, to)) yield String(key.at(-1));
}

/** The same filter once for each alternative it allows. Each part may match more than the filter, together never less. */
function alternativesOf(filter: AnyFilter): AnyFilter[] | undefined {
  if (filter.anyOf !== undefined) {
    return filter.anyOf.map(({ conditions, anyOf }) => ({
      conditions: new Map([...filter.conditions, ...conditions]),
      anyOf,
    }));
  }
  for (const [field, condition] of filter.conditions) {
    if (condition !== null && typeof condition === 'object' && condition.in !== undefined) {
      return condition.in.map((value) => ({
        conditions: new Map([...filter.conditions, [field, value]]),
        anyOf: undefined,
      }));
    }
  }
  return undefined;
}
