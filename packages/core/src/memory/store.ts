import type { CallOptions } from '../ports/options.ts';
import type { Collection, CollectionDefinition, Store, StoredRecord } from '../ports/store.ts';
import { createCollection, type GetRecords } from './collection.ts';
import { createTable, type Table } from './table.ts';
import { createTransaction, type Transaction } from './transaction.ts';

type GetTable = <R extends StoredRecord>(definition: CollectionDefinition<R>) => Table;

/**
 * Creates a store in memory. Returned records are frozen and shared. Transactions are optimistic: they run
 * concurrently on committed data, and run again if something that they read has changed.
 */
export function createMemoryStore(): Store {
  const tables = new Map<string, { readonly definition: string; readonly table: Table }>();
  const byDefinition = new WeakMap<object, Table>();

  const getTable: GetTable = (definition) => {
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
      const collection = createCollection(definition, getTable);
      collections.set(definition, collection);
      return collection;
    },
    transaction: (work, options) => run(getTable, work, options),
  };
}

type Work<T> = (store: Store) => Promise<T>;

/** Not async: each chat message runs a transaction, and its promises cost more than its writes. */
function run<T>(getTable: GetTable, work: Work<T>, options: CallOptions | undefined): Promise<T> {
  const { signal } = options ?? {};
  if (signal?.aborted === true) return Promise.reject(signal.reason);
  const transaction = createTransaction();
  const end = (isCommitted: boolean): boolean => {
    signal?.throwIfAborted();
    return transaction.end({ isCommitted });
  };
  return begin(work, openStore(getTable, transaction)).then(
    (value) => (end(true) ? value : run(getTable, work, options)),
    (error: unknown) => {
      // The error may come from an inconsistent read; then it is ignored.
      if (end(false)) throw error;
      return run(getTable, work, options);
    },
  );
}

/** An exception of a function that is not async is a failure like any other. */
function begin<T>(work: Work<T>, store: Store): Promise<T> {
  try {
    return Promise.resolve(work(store));
  } catch (error) {
    return Promise.reject(error);
  }
}

function openStore(getTable: GetTable, transaction: Transaction): Store {
  const getRecords: GetRecords = (definition) => transaction.records(getTable(definition));
  return {
    collection: (definition) => createCollection(definition, getRecords),
    transaction: refuseNested,
  };
}

async function refuseNested(): Promise<never> {
  throw new Error('transactions do not nest');
}
