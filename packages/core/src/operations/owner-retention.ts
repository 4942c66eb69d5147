import { USERS } from '../identity/records.ts';
import type { Store } from '../ports/store.ts';
import type { GroupRetention, RetentionBounds } from './retention.ts';

/** A condition on the time of a record, epoch milliseconds. */
export type TimeCondition = { readonly lt: number } | { readonly gte: number };

/** Records of one owner that can be deleted. */
export interface OwnedRecords {
  count(ownerId: string, time: TimeCondition): Promise<number>;
  /** Newest first. */
  find(
    ownerId: string,
    time: TimeCondition,
    page: { readonly offset: number; readonly limit: number },
  ): Promise<readonly { readonly id: string }[]>;
  /** Deletes one, as its owner would. Safe to repeat. */
  remove(id: string): Promise<unknown>;
}

/** Keeps the newest records of each owner. */
export function createOwnerRetention(store: Store, records: OwnedRecords): GroupRetention {
  const users = store.collection(USERS);

  /** Number of records from before the time that are among the newest ones. */
  const countKept = async (
    ownerId: string,
    { newest, before }: NonNullable<RetentionBounds['surplus']>,
  ): Promise<number> => Math.max(0, newest - (await records.count(ownerId, { gte: before })));

  return {
    async list(after, limit) {
      const page = await users.find(
        {},
        { limit, ...(after !== undefined && { after: { value: after, id: after } }) },
      );
      const last = page.at(-1);
      return {
        groups: page.map(({ id }) => id),
        ...(last !== undefined && page.length === limit && { next: last.id }),
      };
    },
    async count(ownerId, { before, surplus }) {
      const old = before === undefined ? 0 : await records.count(ownerId, { lt: before });
      if (surplus === undefined) return old;
      const older = await records.count(ownerId, { lt: surplus.before });
      // Both are the oldest records of the owner.
      return Math.max(old, older - (await countKept(ownerId, surplus)));
    },
    async trim(ownerId, { surplus }, limit) {
      if (surplus === undefined) return 0;
      const offset = await countKept(ownerId, surplus);
      const found = await records.find(ownerId, { lt: surplus.before }, { offset, limit });
      for (const { id } of found) await records.remove(id);
      return found.length;
    },
  };
}
