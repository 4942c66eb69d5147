import { USERS } from '../identity/records.ts';
import type { Collection, Filter, Store, StoredRecord } from '../ports/store.ts';
import type { AgedRecord, GroupRetention, RemoveChecked, RetentionBounds } from './retention.ts';

/** A condition on the time of a record, epoch milliseconds. */
export type TimeCondition = { readonly lt: number } | { readonly gte: number };

/** Records of one owner that can be deleted. */
export type OwnedRecords = {
  /** Lists the owners. Default: the users. */
  readonly listOwners?: GroupRetention['list'];
  count(ownerId: string, time: TimeCondition): Promise<number>;
  /** Newest first. */
  find(
    ownerId: string,
    time: TimeCondition,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly Pick<AgedRecord, 'id'>[]>;
} & (
  | { readonly remove: RemoveChecked }
  /** For records that are never in use. */
  | { readonly removeAll: (ids: readonly string[]) => Promise<number> }
);

/** Records of one page of a count. */
const PAGE = 500;

/** Keeps the newest records of each owner. */
export function createOwnerRetention(store: Store, records: OwnedRecords): GroupRetention {
  /** Number of records from before the time that are among the newest ones. */
  const countKept = async (
    ownerId: string,
    { newest, before }: NonNullable<RetentionBounds['surplus']>,
  ): Promise<number> => Math.max(0, newest - (await records.count(ownerId, { gte: before })));

  return {
    list: records.listOwners ?? listRecords(store.collection(USERS)),
    async count(ownerId, { before = 0, surplus }, remover) {
      const old = before === 0 ? 0 : await records.count(ownerId, { lt: before });
      const surplusCount =
        surplus === undefined
          ? 0
          : (await records.count(ownerId, { lt: surplus.before })) - (await countKept(ownerId, surplus));
      // Both are the oldest records of the owner.
      const counted = Math.max(old, surplusCount);
      if ('removeAll' in records || counted === 0) return counted;
      const time = { lt: Math.max(before, surplus?.before ?? 0) };
      let unused = 0;
      for (let offset = (await records.count(ownerId, time)) - counted; ; offset += PAGE) {
        const page = await records.find(ownerId, time, { offset, limit: PAGE });
        unused += await remover.count(page.map(({ id }) => id));
        if (page.length < PAGE) return unused;
      }
    },
    async trim(ownerId, { surplus }, limit, remover) {
      if (surplus === undefined) return 0;
      let offset = await countKept(ownerId, surplus);
      let removed = 0;
      while (removed < limit) {
        const page = { offset, limit: limit - removed };
        const ids = (await records.find(ownerId, { lt: surplus.before }, page)).map(({ id }) => id);
        if (ids.length === 0) break;
        const gone =
          'removeAll' in records
            ? await records.removeAll(ids)
            : await remover.removeEach(ids, surplus.before, records.remove);
        removed += gone;
        // Goes on behind those that stay.
        offset += ids.length - gone;
        if (ids.length < page.limit) break;
      }
      return removed;
    },
  };
}

/** The records of a collection as groups. */
export function listRecords<R extends StoredRecord>(
  collection: Pick<Collection<R>, 'find'>,
): GroupRetention['list'] {
  return async (after, limit) => {
    const page = await collection.find({} as Filter<R>, {
      limit,
      ...(after !== undefined && { after: { value: after, id: after } }),
    });
    const last = page.at(-1);
    return {
      groups: page.map(({ id }) => id),
      ...(last !== undefined && page.length === limit && { next: last.id }),
    };
  };
}
