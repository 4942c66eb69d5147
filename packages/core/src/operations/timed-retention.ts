import type { Collection, Filter, Store, StoredRecord } from '../ports/store.ts';
import { createOwnerRetention, type TimeCondition } from './owner-retention.ts';
import type { RemoveChecked, RetentionRule } from './retention.ts';

/** A record of an owner with the time of its age, epoch milliseconds. */
type TimedRecord<T extends string> = StoredRecord & { readonly ownerId: string } & Readonly<
    Record<T, number>
  >;

/** Records of all owners that can be deleted. */
interface TimedRecords<R extends TimedRecord<T>, T extends string> {
  readonly collection: Pick<Collection<R>, 'find' | 'count'>;
  /** The field of the age. The collection has an order by it, for all owners and for each. */
  readonly time: T;
  /** Default: all. */
  readonly where?: Filter<R>;
  readonly remove: RemoveChecked;
}

/** Deletes records by age, and keeps the newest ones of each owner. */
export function createTimedRetention<R extends TimedRecord<T>, T extends string>(
  store: Store,
  { collection, time, where, remove }: TimedRecords<R, T>,
): Pick<RetentionRule, 'byAge' | 'byGroup'> {
  const matching = (condition: { readonly ownerId?: string }, when: TimeCondition): Filter<R> =>
    ({ ...condition, [time]: when, ...where }) as Filter<R>;
  return {
    byAge: {
      async find(before, limit, after) {
        const old = await collection.find(matching({}, { lt: before }), {
          order: { field: time, direction: 'asc' },
          limit,
          ...(after !== undefined && { after: { value: after.time, id: after.id } }),
        });
        return old.map((record) => ({ id: record.id, time: record[time] }));
      },
      remove,
    },
    byGroup: createOwnerRetention(store, {
      count: (ownerId, when) => collection.count(matching({ ownerId }, when)),
      find: (ownerId, when, page) =>
        collection.find(matching({ ownerId }, when), {
          order: { field: time, direction: 'desc' },
          ...page,
        }),
      remove,
    }),
  };
}
