import type { Collection, CollectionDefinition, Store, StoredRecord } from '@questline/core/ports';
import type { SqlDatabase } from './database.ts';
import { type CollectionMaker, createCollectionMaker, type RunStatement } from './store/collection.ts';
import { createTable } from './store/table.ts';

/**
 * Records in tables, one per collection; `migrate` creates them. Transactions are serializable: SQLite runs one
 * at a time, PostgreSQL retries conflicting ones.
 */
export function createSqlStore(database: SqlDatabase): Store {
  const makers = new Map<string, { readonly definition: object; readonly make: CollectionMaker }>();

  const storeOn = (run: RunStatement, transaction: Store['transaction']): Store => ({
    collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R> {
      let known = makers.get(definition.name);
      if (known?.definition !== definition) {
        known = { definition, make: createCollectionMaker(database, createTable(definition)) };
        makers.set(definition.name, known);
      }
      return known.make(run) as unknown as Collection<R>;
    },
    transaction,
  });

  return storeOn(database.run, (work, options) =>
    database.transaction(
      (connection) =>
        work(
          storeOn(
            (statement, call) => {
              call?.signal?.throwIfAborted();
              return connection.run(statement);
            },
            async () => {
              throw new Error('transactions do not nest');
            },
          ),
        ),
      options,
    ),
  );
}
