import type { RetentionBounds, RetentionRule } from '../../operations/retention.ts';
import { removeWhere } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { giveStorageBack } from '../storage/usage.ts';
import { sumBytes } from './purge.ts';
import { MESSAGES, SESSIONS } from './records.ts';
import { listSessionGroups } from './retention.ts';

/** Deletes old messages of sessions that stay, and releases their quota. The last turn of each session stays. */
export function messageRetention({ store }: { readonly store: Store }): RetentionRule {
  const messages = store.collection(MESSAGES);
  const newestFirst = { field: 'createdAt', direction: 'desc' } as const;

  /** @returns the time from before which messages are deleted. The messages of one turn have one time. */
  const findCutoff = async (sessionId: string, bounds: RetentionBounds): Promise<number> => {
    const { before = 0, surplus } = bounds;
    if (surplus === undefined) return before;
    const offset = surplus.newest - 1;
    const [oldestKept] = await messages.find({ sessionId }, { order: newestFirst, offset, limit: 1 });
    if (oldestKept === undefined) return before;
    return Math.max(before, Math.min(surplus.before, oldestKept.createdAt));
  };

  /** A client derives the id of the next turn from the last message: it must not return to an earlier one. */
  const keepLastTurn = async (sessionId: string, cutoff: number): Promise<number> => {
    const [last] = await messages.find({ sessionId }, { order: newestFirst, limit: 1 });
    return Math.min(cutoff, last?.createdAt ?? cutoff);
  };

  return {
    kind: 'messages',
    byGroup: {
      list: listSessionGroups(store),
      async count(sessionId, bounds) {
        const cutoff = await keepLastTurn(sessionId, await findCutoff(sessionId, bounds));
        return messages.count({ sessionId, createdAt: { lt: cutoff } });
      },
      async trim(sessionId, bounds, limit) {
        const cutoff = await findCutoff(sessionId, bounds);
        // Those of the last turn come last: they do not take the place of others within the limit.
        const old = await messages.find(
          { sessionId, createdAt: { lt: cutoff } },
          { order: { field: 'createdAt', direction: 'asc' }, limit },
        );
        if (old.length === 0) return 0;
        const kept = await keepLastTurn(sessionId, cutoff);
        const ids = old.filter(({ createdAt }) => createdAt < kept).map(({ id }) => id);
        return ids.length === 0 ? 0 : removeMessagesById(store, sessionId, ids);
      },
    },
  };
}

function removeMessagesById(store: Store, sessionId: string, ids: readonly string[]): Promise<number> {
  return store.transaction(async (inner) => {
    const messages = inner.collection(MESSAGES);
    const sessions = inner.collection(SESSIONS);
    const batch = await messages.find({ sessionId, id: { in: ids } }, { limit: ids.length });
    if (batch.length === 0) return 0;
    await removeWhere(messages, { sessionId, id: { in: batch.map(({ id }) => id) } });
    for (const [ownerId, bytes] of sumBytes(batch)) {
      await giveStorageBack(inner, { ownerId, kind: 'sessions', bytes });
    }
    const session = await sessions.get(sessionId);
    if (session?.enrichedAt !== undefined) {
      // The next enrichment compares it with the number of messages.
      await sessions.update(sessionId, { enrichedAt: Math.max(0, session.enrichedAt - batch.length) });
    }
    return batch.length;
  });
}
