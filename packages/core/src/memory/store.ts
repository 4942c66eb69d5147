import type { CallOptions } from '../ports/options.ts';
import {
  type Collection,
  type CollectionDefinition,
  type ColumnType,
  type Filter,
  type FindOptions,
  type Store,
  type StoredRecord,
  UniqueViolation,
} from '../ports/store.ts';
import { type AnyRecord, assertColumn, matches, matchesPlainly, readFilter } from './filter.ts';
import { frozenCopy } from './json.ts';
import { createTable, type Records, type Table } from './table.ts';
import { createTransaction } from './transaction.ts';

const MAX_RECORDS = 1000;
const BY_ID = { field: 'id', direction: 'asc' } as const;

/**
 * Creates a store in memory. Returned records are frozen and shared. Transactions are optimistic: they run
 * concurrently on committed data, and run again if something that they read has changed.
 */
export function createMemoryStore(): Store {
  const tables = new Map<string, { readonly definition: string; readonly table: Table }>();
  const byDefinition = new WeakMap<object, Table>();

  const getTable = <R extends StoredRecord>(definition: CollectionDefinition<R>): Table => {
    const known = byDefinition.get(definition);
    if (known !== undefined) return known;
    const text = JSON.stringify(definition);
    const named = tables.get(definition.name);
    if (named !== undefined && named.definition !== text) {
      throw new TypeError(`there are two definitions of ${definition.name}`);
    }
    const table = named?.table ?? createTable(definition);
    if (named === undefined) tables.set(definition.name, { definition: text, table });
    byDefinition.set(definition, table);
    return table;
  };

  const collections = new WeakMap<object, unknown>();

  return {
    collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R> {
      const known = collections.get(definition) as Collection<R> | undefined;
      if (known !== undefined) return known;
      const collection = createCollection(definition, getTable(definition));
      collections.set(definition, collection);
      return collection;
    },

    async transaction(work, options) {
      for (;;) {
        options?.signal?.throwIfAborted();
        const transaction = createTransaction();
        const store: Store = {
          collection: (definition) => createCollection(definition, transaction.records(getTable(definition))),
          async transaction() {
            throw new Error('transactions do not nest');
          },
        };
        const outcome = await attempt(work, store);
        options?.signal?.throwIfAborted();
        // The error may come from an inconsistent read; then it is ignored.
        if (!transaction.end({ isCommitted: outcome.isDone })) continue;
        if (outcome.isDone) return outcome.value;
        throw outcome.error;
      }
    },
  };
}

/** Runs the work and captures its error. */
async function attempt<T>(
  work: (store: Store) => Promise<T>,
  store: Store,
): Promise<{ isDone: true; value: T } | { isDone: false; error: unknown }> {
  try {
    return { isDone: true, value: await work(store) };
  } catch (error) {
    return { isDone: false, error };
  }
}

function createCollection<R extends StoredRecord>(
  definition: CollectionDefinition<R>,
  records: Records,
): Collection<R> {
  const columns: Readonly<Record<string, ColumnType | undefined>> = definition.columns;
  /** Rejects values that a column of a storage engine cannot store. */
  const assertColumnTypes = (record: AnyRecord): void => {
    for (const field in columns) {
      const value = record[field];
      const type = columns[field];
      if (value === undefined || value === null || type === undefined) continue;
      if (!fitsColumn(value, type)) throw new TypeError(`${definition.name}.${field} is of type ${type}`);
    }
  };

  const readGuarded = (id: string, guard: Filter<R> | undefined, options: CallOptions | undefined) => {
    options?.signal?.throwIfAborted();
    const record = records.get(id);
    if (guard === undefined) return record;
    const isMatch =
      matchesPlainly(definition, record, guard) ?? matches(record, readFilter(definition, guard));
    return isMatch ? record : undefined;
  };

  /** Writes the new record. */
  const replace = (next: AnyRecord): R => {
    if (records.conflicts(next).length > 0) throw new UniqueViolation(definition.name);
    records.write(next.id, next);
    return next as unknown as R;
  };

  return {
    async get(id, guard, options) {
      return readGuarded(id, guard, options) as R | undefined;
    },

    async find(filter, options: FindOptions<R> = {}) {
      options.signal?.throwIfAborted();
      const { order = { field: 'id', direction: 'asc' }, after, offset = 0, limit = MAX_RECORDS } = options;
      assertColumn(definition, order.field);
      assertLimit(limit);
      const query = { filter: readFilter(definition, filter), order, after, skip: offset, take: limit };
      return records.select(query) as unknown as R[];
    },

    async count(filter, options) {
      options?.signal?.throwIfAborted();
      return records.count(readFilter(definition, filter));
    },

    async insert(record, options) {
      options?.signal?.throwIfAborted();
      const copy = frozenCopy(record) as unknown as AnyRecord;
      assertColumnTypes(copy);
      if (records.get(copy.id) !== undefined || records.conflicts(copy).length > 0) return false;
      records.write(copy.id, copy);
      return true;
    },

    async update(id, patch, guard, options) {
      const record = readGuarded(id, guard, options);
      if (record === undefined) return undefined;
      const next: Record<string, unknown> = { ...record, ...frozenCopy(patch) };
      for (const [field, value] of Object.entries(patch)) if (value === undefined) delete next[field];
      next.id = id;
      assertColumnTypes(next as AnyRecord);
      return replace(Object.freeze(next) as AnyRecord);
    },

    async add(id, deltas, guard, options) {
      const record = readGuarded(id, guard, options);
      if (record === undefined) return undefined;
      const next: Record<string, unknown> = { ...record };
      for (const [field, delta] of Object.entries(deltas) as [string, number | undefined][]) {
        assertColumn(definition, field);
        next[field] = Number(record[field] ?? 0) + (delta ?? 0);
      }
      assertColumnTypes(next as AnyRecord);
      return replace(Object.freeze(next) as AnyRecord);
    },

    async take(id, guard, options) {
      const record = readGuarded(id, guard, options);
      if (record !== undefined) records.write(id, undefined);
      return record as R | undefined;
    },

    async removeWhere(filter, { limit = MAX_RECORDS, signal } = {}) {
      signal?.throwIfAborted();
      assertLimit(limit);
      const query = { filter: readFilter(definition, filter), order: BY_ID, skip: 0, take: limit };
      const found = records.select(query);
      for (const { id } of found) records.write(id, undefined);
      return found.length;
    },
  };
}

function assertLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_RECORDS) {
    throw new RangeError(`a limit of ${limit} is not within 1..${MAX_RECORDS}`);
  }
}

function fitsColumn(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'integer':
      return Number.isSafeInteger(value);
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return Array.isArray(value) && value.every((member) => typeof member === 'string');
  }
}
