import type { CallOptions } from '../ports/options.ts';
import {
  type Collection,
  type CollectionDefinition,
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

const MOST_RECORDS = 1000;

/**
 * Records in this process. What it hands out is frozen and shared: nobody can change a stored record but by a verb.
 * Transactions run side by side on what was committed when they looked; one that finds at its end that something it
 * read has changed meanwhile runs again.
 */
export function createMemoryStore(): Store {
  const tables = new Map<string, { readonly definition: string; readonly table: Table }>();

  const tableOf = <R extends StoredRecord>(definition: CollectionDefinition<R>): Table => {
    const text = JSON.stringify(definition);
    const known = tables.get(definition.name);
    if (known !== undefined && known.definition !== text) {
      throw new TypeError(`there are two definitions of ${definition.name}`);
    }
    const table = known?.table ?? createTable(definition);
    if (known === undefined) tables.set(definition.name, { definition: text, table });
    return table;
  };

  return {
    collection: (definition) => createCollection(definition, tableOf(definition)),

    async transaction(work, options) {
      for (;;) {
        options?.signal?.throwIfAborted();
        const transaction = createTransaction();
        const store: Store = {
          collection: (definition) => createCollection(definition, transaction.records(tableOf(definition))),
          async transaction() {
            throw new Error('transactions do not nest');
          },
        };
        const outcome = await attempt(work, store);
        options?.signal?.throwIfAborted();
        // What was thrown may come from having seen half of another's change: then it counts for nothing.
        if (!transaction.end({ isCommitted: outcome.isDone })) continue;
        if (outcome.isDone) return outcome.value;
        throw outcome.error;
      }
    },
  };
}

/** Runs the work, and keeps what it throws for later. */
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
  const columns = Object.entries(definition.columns);
  /** A storage engine has real columns; what would not fit into one does not fit here either. */
  const assertColumnTypes = (record: AnyRecord): void => {
    for (const [field, type] of columns) {
      const value = record[field];
      if (value === undefined || value === null) continue;
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

  /** Writes the record as it shall be. */
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
      const { order = { field: 'id', direction: 'asc' }, after, offset = 0, limit = MOST_RECORDS } = options;
      assertColumn(definition, order.field);
      if (!Number.isInteger(limit) || limit < 1 || limit > MOST_RECORDS) {
        throw new RangeError(`a limit of ${limit} is not within 1..${MOST_RECORDS}`);
      }
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
  };
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
