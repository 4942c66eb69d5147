import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { hashSecret } from '../shared/secrets.ts';
import { IDEMPOTENCY, type IdempotencyRecord } from './idempotency-records.ts';

/** What may be used once is known for so long after its use. */
const USED_MS = 30 * 24 * 3_600_000;

export interface SingleUse {
  readonly userId: string;
  /** E.g. ids of approvals. */
  readonly names: readonly string[];
  /** The id of the work. */
  readonly workId: string;
}

/** Names that may be used once, such as the id of an approval. */
export interface SingleUses {
  /**
   * Uses up names that one work of a user may use within 30 days: all of them or none. The same work may use them again,
   * e.g. after a crash.
   * @returns a name that other work has used; undefined: they are used up by this work.
   */
  useUp(use: SingleUse): Promise<string | undefined>;
  /** @returns a name that other work has used, if there is one. */
  findUsed(use: SingleUse): Promise<string | undefined>;
}

export function createSingleUses({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): SingleUses {
  /** Inserts a name. @returns false if other work has used it. */
  const useOne = async (where: Store, record: IdempotencyRecord, now: number): Promise<boolean> => {
    const used = where.collection(IDEMPOTENCY);
    await used.take(record.id, { expiresAt: { lte: now } });
    if (await used.insert(record)) return true;
    return (await used.get(record.id))?.bodyHash === record.bodyHash;
  };

  return {
    async useUp(use) {
      const now = clock.now();
      // In one order, so that two transactions do not wait for each other.
      const names = [...new Set(use.names)].sort();
      let taken: string | undefined;
      try {
        await store.transaction(async (transaction) => {
          taken = undefined;
          for (const name of names) {
            if (await useOne(transaction, toUsed(use, name, now + USED_MS), now)) continue;
            taken = name;
            throw new Error('a name is used up');
          }
        });
      } catch (error) {
        if (taken === undefined) throw error;
      }
      return taken;
    },

    async findUsed(use) {
      const now = clock.now();
      for (const name of use.names) {
        const { id, bodyHash } = toUsed(use, name, now);
        const known = await store.collection(IDEMPOTENCY).get(id);
        if (known !== undefined && known.expiresAt > now && known.bodyHash !== bodyHash) return name;
      }
      return undefined;
    },
  };
}

function toUsed({ userId, workId }: SingleUse, name: string, expiresAt: number): IdempotencyRecord {
  return {
    id: hashSecret(JSON.stringify(['used', userId, name])),
    bodyHash: hashSecret(workId),
    // The record is deleted with the user.
    answer: JSON.stringify({ userId }),
    expiresAt,
  };
}
