import type { CallOptions } from '../ports/options.ts';
import type { Collection, CollectionDefinition, Store, StoredRecord } from '../ports/store.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import { writeAll, writeInTransaction } from '../ports/write-all.ts';
import type { NewEvent } from './event.ts';
import type { EventOutbox } from './outbox.ts';
import type { OutboxRecord } from './records.ts';
import type { EventSource, RecordChange } from './source.ts';

/**
 * A store that writes events to the outbox in the transaction of the change that they describe. Changes that are no
 * event are passed on as they are.
 */
export function captureEvents(store: Store, sources: readonly EventSource[], outbox: EventOutbox): Store {
  const byName = new Map<string, EventSource[]>();
  for (const source of sources) {
    const { name } = source.collection;
    byName.set(name, [...(byName.get(name) ?? []), source]);
  }

  const toEvents = (
    watched: readonly EventSource[],
    change: RecordChange<StoredRecord>,
  ): readonly NewEvent[] =>
    watched.flatMap((source) => source.toEvents(change)).filter(({ type }) => outbox.receivers.wants(type));

  /** @param written receives the events, to announce after the commit. */
  const inTransaction = (inner: Store, written: OutboxRecord[]): Store => ({
    collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R> {
      const collection = inner.collection(definition);
      const watched = byName.get(definition.name);
      if (watched === undefined) return collection;
      const add = async (change: RecordChange<R>): Promise<void> => {
        for (const event of toEvents(watched, change)) written.push(await outbox.add(inner, event));
      };
      return wrapCollection(collection, {
        async insert(record, options) {
          const isNew = await collection.insert(record, options);
          if (isNew && mayInsert(watched)) await add({ before: undefined, after: record });
          return isNew;
        },
        async update(id, patch, guard, options) {
          if (!mayMatch(watched, patch)) return collection.update(id, patch, guard, options);
          const before = await collection.get(id, guard, options);
          const after = await collection.update(id, patch, guard, options);
          if (before !== undefined && after !== undefined) await add({ before, after });
          return after;
        },
      });
    },
    transaction: (work, options) => inner.transaction(work, options),
  });

  const isHeard = (): boolean | Promise<boolean> => {
    const { receivers } = outbox;
    return receivers.refresh()?.then(() => receivers.isActive()) ?? receivers.isActive();
  };

  const transaction: Store['transaction'] = (work, options) => {
    const heard = isHeard();
    // Not async, because this runs for every accepted turn.
    return heard === false ? store.transaction(work, options) : captured(heard, work, options);
  };

  const captured = async <T>(
    heard: boolean | Promise<boolean>,
    work: (inner: Store) => Promise<T>,
    options: CallOptions | undefined,
  ): Promise<T> => {
    if (!(await heard)) return store.transaction(work, options);
    let written: OutboxRecord[] = [];
    const value = await store.transaction((inner) => {
      written = [];
      return work(inTransaction(inner, written));
    }, options);
    outbox.announce(written);
    return value;
  };

  /** Only for a store that has it: with a transaction, callers write one by one. */
  const writeEach: Store['writeAll'] = (writes, options) => {
    const isWatched = writes.some((write) => {
      if (write.do !== 'insert' && write.do !== 'update') return false;
      const watched = byName.get(write.collection.name) ?? [];
      return write.do === 'insert' ? mayInsert(watched) : mayMatch(watched, write.patch);
    });
    if (!isWatched) return writeAll(store, writes, options);
    const write = (isNeeded: boolean): Promise<boolean> =>
      isNeeded ? writeInTransaction({ transaction }, writes, options) : writeAll(store, writes, options);
    const heard = isHeard();
    return heard instanceof Promise ? heard.then(write) : write(heard);
  };

  return {
    collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R> {
      const collection = store.collection(definition);
      const watched = byName.get(definition.name);
      if (watched === undefined) return collection;
      return wrapCollection(collection, {
        insert: async (record, options) =>
          mayInsert(watched) && (await isHeard())
            ? transaction((inner) => inner.collection(definition).insert(record, options))
            : collection.insert(record, options),
        update: async (id, patch, guard, options) =>
          mayMatch(watched, patch) && (await isHeard())
            ? transaction((inner) => inner.collection(definition).update(id, patch, guard, options))
            : collection.update(id, patch, guard, options),
      });
    },
    transaction,
    ...(store.writeAll !== undefined && { writeAll: writeEach }),
  };
}

function mayInsert(sources: readonly EventSource[]): boolean {
  return sources.some(({ inserts }) => inserts === true);
}

function mayMatch(sources: readonly EventSource[], patch: object): boolean {
  return sources.some((source) => source.matches(patch));
}
