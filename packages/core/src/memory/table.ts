import type { CollectionDefinition, StoredRecord } from '../ports/store.ts';
import { type Comparable, compareValues } from './compare.ts';
import { type AnyFilter, type AnyRecord, matches, pinnedValue } from './filter.ts';
import { createIndex, getKeys, getPath, type Index, type IndexPath } from './index-path.ts';

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

/** The committed records of one collection, with its indexes and unique constraints. Independent of transactions. */
export interface Table {
  get(id: string): AnyRecord | undefined;
  /** Inserts, replaces or (with undefined) removes a record. The caller checks the unique constraints before. */
  write(id: string, record: AnyRecord | undefined): void;
  /** True if the collection has unique constraints. */
  readonly isConstrained: boolean;
  /** Returns the ids of other records that violate a unique constraint with this one. */
  conflicts(record: AnyRecord): readonly string[];
  /** @param except ignored ids. */
  select(query: Query, except?: ReadonlyMap<string, unknown>): AnyRecord[];
  count(filter: AnyFilter): number;
  /** Whether two records violate a unique constraint. */
  agree(a: AnyRecord, b: AnyRecord): boolean;
}

/** The primitive reads and writes of a collection, on committed data or within a transaction. */
export type Records = Pick<Table, 'get' | 'write' | 'conflicts' | 'count'> & {
  select(query: Query): AnyRecord[];
};

interface UniqueRule {
  readonly fields: readonly string[];
  readonly ids: Map<string, string>;
}

/** Candidate records for a filter. */
interface Candidates {
  readonly count: number;
  /** True: all candidates match. */
  readonly isExact: boolean;
  ids(): Iterable<string>;
}

/** With more candidates than this, the alternatives of a filter are searched separately. */
const WORTH_SPLITTING = 64;

export function createTable<R extends StoredRecord>(definition: CollectionDefinition<R>): Table {
  const columns: Readonly<Record<string, string | undefined>> = definition.columns;
  const records = new Map<string, AnyRecord>();
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

  /** Built on the first sorted query, so lookups by id do not pay for it. */
  let indexes: readonly Index[] | undefined;

  const createIndexes = (): readonly Index[] => {
    const created = [[], ...definition.indexes].map((fields) =>
      createIndex(fields, (field) => columns[field] === 'list'),
    );
    for (const record of records.values()) for (const index of created) enter(index, record);
    return created;
  };

  const getPaths = (filter: AnyFilter, orderField: string): IndexPath[] => {
    indexes ??= createIndexes();
    return indexes.flatMap((index) => getPath(index, filter, orderField) ?? []);
  };

  /** Returns candidates in no order: a superset of the matches. */
  const gather = (filter: AnyFilter): Candidates => {
    const known = idsByRule(filter);
    if (known !== undefined) return { count: known.length, isExact: false, ids: () => known };
    const path = cheapest(getPaths(filter, 'id'));
    const size = path === undefined ? records.size : getSize(path);
    if (size > WORTH_SPLITTING) {
      const parts = getAlternatives(filter)?.map(gather);
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
      if (indexes !== undefined) {
        for (const index of indexes) {
          if (old !== undefined && record !== undefined && isSameIn(index.fields, old, record)) continue;
          if (old !== undefined) for (const key of getKeys(index, old)) index.keys.remove(key);
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

    isConstrained: rules.length > 0,

    conflicts(record) {
      if (rules.length === 0) return NO_IDS;
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
        const inOrder = getPaths(filter, order.field).filter((path) => path.isOrdered);
        const path = after === undefined || !isPinned ? cheapest(inOrder) : undefined;
        // A sorted read stops at the limit; estimate half of the range if not all candidates match.
        const cost = path && (path.isExact ? skip + take : getSize(path) / 2);
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

const NO_IDS: readonly string[] = [];

function enter(index: Index, record: AnyRecord): void {
  for (const key of getKeys(index, record)) index.keys.insert(key);
}

/** Compares by the requested order, then by id in the same direction. */
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

/** Returns the key of a record in a unique constraint, or undefined if a field is null or absent. */
function ruleKey(values: readonly unknown[]): string | undefined {
  if (values.some((value) => value === undefined || value === null)) return undefined;
  return JSON.stringify(values);
}

function isSameIn(fields: readonly string[], a: AnyRecord, b: AnyRecord): boolean {
  return fields.every((field) => a[field] === b[field]);
}

function getSize(path: IndexPath): number {
  return path.high - path.low;
}

/** Returns the shortest path; prefers one whose records all match. */
function cheapest(paths: readonly IndexPath[]): IndexPath | undefined {
  let best: IndexPath | undefined;
  for (const path of paths) {
    const gain = best === undefined ? 1 : getSize(best) - getSize(path);
    if (gain > 0 || (gain === 0 && path.isExact && best?.isExact === false)) best = path;
  }
  return best;
}

function* idsOn(path: IndexPath, from: number, to: number): Generator<string> {
  for (const key of path.index.keys.walk(from, to)) yield String(key.at(-1));
}

/** Splits a filter by its alternatives. Together the parts match a superset of the filter. */
function getAlternatives(filter: AnyFilter): AnyFilter[] | undefined {
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
