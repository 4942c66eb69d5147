import type { Clock } from '../ports/clock.ts';
import { removeWhere } from '../ports/remove-where.ts';
import type {
  Collection,
  CollectionDefinition,
  Filter,
  RemoveOptions,
  Store,
  StoredRecord,
} from '../ports/store.ts';
import { wrapCollection } from '../ports/wrap-collection.ts';
import { type StoreWrite, writeAll, writeInTransaction } from '../ports/write-all.ts';
import { type AuditedStore, recordAudit, SERVICE_ACTOR } from './audit.ts';
import { AUDIT_LOG, type AuditActor } from './audit-records.ts';
import type { AuditedChange, AuditSource } from './audit-source.ts';

/**
 * A store that writes audit entries in the transaction of the change that they describe. Entries can be read and added,
 * and neither changed nor deleted. Other changes are passed on as they are.
 */
export function captureAudit(store: Store, sources: readonly AuditSource[], clock: Clock): AuditedStore {
  const byName = new Map(sources.map((source) => [source.collection.name, source]));

  const inTransaction = (inner: Store, actor: AuditActor): Store => ({
    collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R> {
      const collection = inner.collection(definition);
      if (definition.name === AUDIT_LOG.name) return appendOnly(collection);
      const source = byName.get(definition.name);
      if (source === undefined) return collection;
      const record = async (change: AuditedChange<R>): Promise<void> => {
        const now = clock.now();
        for (const entry of source.toEntries(change, actor)) await recordAudit(inner, actor, entry, now);
      };
      return wrapCollection(collection, {
        ...(source.inserts === true && {
          async insert(next, options) {
            const isNew = await collection.insert(next, options);
            if (isNew) await record({ after: next });
            return isNew;
          },
        }),
        async update(id, patch, guard, options) {
          if (!touches(source, patch)) return collection.update(id, patch, guard, options);
          const before = await collection.get(id, guard, options);
          const after = await collection.update(id, patch, guard, options);
          if (before !== undefined && after !== undefined) await record({ before, after });
          return after;
        },
        ...(source.deletions === true &&
          takingEach(collection, async (id, guard, options) => {
            const before = await collection.take(id, guard, options);
            if (before !== undefined) await record({ before });
            return before;
          })),
      });
    },
    transaction: (work, options) => inner.transaction(work, options),
  });

  const actAs = (actor: AuditActor): AuditedStore => {
    const transaction: Store['transaction'] = (work, options) =>
      store.transaction((inner) => work(inTransaction(inner, actor)), options);
    const writeEach: Store['writeAll'] = (writes, options) => {
      const areAudited = writes.some((write) => {
        if (write.do === 'engine') return false;
        const source = byName.get(write.collection.name);
        return source !== undefined && isAudited(source, write);
      });
      return areAudited
        ? writeInTransaction({ transaction }, writes, options)
        : writeAll(store, writes, options);
    };
    return {
      collection<R extends StoredRecord>(definition: CollectionDefinition<R>): Collection<R> {
        const collection = store.collection(definition);
        if (definition.name === AUDIT_LOG.name) return appendOnly(collection);
        const source = byName.get(definition.name);
        if (source === undefined) return collection;
        const within = <T>(work: (inner: Collection<R>) => Promise<T>): Promise<T> =>
          transaction((inner) => work(inner.collection(definition)));
        return wrapCollection(collection, {
          ...(source.inserts === true && {
            insert: (record, options) => within((inner) => inner.insert(record, options)),
          }),
          update: (id, patch, guard, options) =>
            touches(source, patch)
              ? within((inner) => inner.update(id, patch, guard, options))
              : collection.update(id, patch, guard, options),
          ...(source.deletions === true &&
            takingEach(collection, (id, guard, options) =>
              within((inner) => inner.take(id, guard, options)),
            )),
        });
      },
      transaction,
      ...(store.writeAll !== undefined && { writeAll: writeEach }),
      actAs,
    };
  };

  return actAs(SERVICE_ACTOR);
}

function isAudited(source: AuditSource, write: StoreWrite): boolean {
  switch (write.do) {
    case 'insert':
      return source.inserts === true;
    case 'update':
      return touches(source, write.patch);
    case 'remove':
      return source.deletions === true;
    case 'remove-where':
      return source.deletions === true && write.max > 0;
    default:
      return false;
  }
}

function touches({ fields }: AuditSource, patch: object): boolean {
  return fields.some((field) => field in patch);
}

/** Where each deletion causes an entry, many records are deleted one by one. */
function takingEach<R extends StoredRecord>(collection: Collection<R>, take: Collection<R>['take']) {
  const find: Collection<R>['find'] = (filter, options) => collection.find(filter, options);
  return {
    take,
    removeWhere: (filter: Filter<R>, options?: RemoveOptions) =>
      removeWhere<R>({ find, take }, filter, options),
  };
}

function appendOnly<R extends StoredRecord>(collection: Collection<R>): Collection<R> {
  const refuse = async (): Promise<never> => {
    throw new Error('entries of the audit log are neither changed nor deleted');
  };
  return wrapCollection(collection, { update: refuse, add: refuse, take: refuse, removeWhere: refuse });
}
