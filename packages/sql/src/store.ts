import type { Collection, CollectionDefinition, Store, StoredRecord } from '@questline/core/ports';
import { getRead, type SqlDatabase } from './database.ts';
import { createNaming } from './statement.ts';
import { type CollectionMaker, createCollectionMaker, type RunStatement } from './store/collection.ts';
import { createTable, type Table } from './store/table.ts';
import { createWriteAll } from './store/write-all.ts';

interface KnownTable {
  readonly definition: object;
  readonly table: Table;
  readonly make: CollectionMaker;
}

/**
 * Records in tables, one per collection; `migrate` creates them. Transactions are serializable: SQLite runs one
 * at a time, PostgreSQL retries conflicting ones.
 */
export function createSqlStore(database: SqlDatabase): Store {
  const makers = new Map<string, KnownTable>();
  const toNamed = createNaming();

  const getTable = <R extends StoredRecord>(definition: CollectionDefinition<R>): KnownTable => {
    let known = makers.get(definition.name);
    if (known?.definition !== definition) {
      const table = createTable(definition);
      known = {
        definition,
        table,
        make: createCollectionMaker(database, table, toNamed, (other) => getTable(other).table),
      };
      makers.set(definition.name, known);
    }
    return known;
  };

  const storeOn = (run: RunStatement, read: RunStatement, transaction: Store['transaction']): Store => ({
    collection: <R extends StoredRecord>(definition: CollectionDefinition<R>) =>
      getTable(definition).make(run, read) as unknown as Collection<R>,
    transaction,
  });

  const store = storeOn(database.run, getRead(database), (work, options) =>
    database.transaction((connection) => {
      const run: RunStatement = (statement, call) => {
        call?.signal?.throwIfAborted();
        return connection.run(statement);
      };
      const refuse = async () => {
        throw new Error('transactions do not nest');
      };
      return work(storeOn(run, run, refuse));
    }, options),
  );
  const writeAll = createWriteAll(database, (definition) => getTable(definition).table, toNamed);
  return { ...store, writeAll };
}
