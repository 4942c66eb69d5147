import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { RetentionBounds, RetentionRule } from '../../operations/retention.ts';
import { removeWhere } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { CLOSED } from '../../runs/states.ts';
import { MESSAGES, type MessageRecord } from '../sessions/records.ts';
import { listSessionGroups } from '../sessions/retention.ts';
import { CHAT } from './job.ts';

/** Deletes ended quests of sessions that stay, with the steps of agent runs. */
export function questRetention({
  store,
  deletion,
}: {
  readonly store: Store;
  readonly deletion: DeletionCleanup;
}): RetentionRule {
  const quests = store.collection(QUESTS);
  const messages = store.collection(MESSAGES);

  const findCutoff = async (sessionId: string, bounds: RetentionBounds): Promise<number> => {
    const { before = 0, surplus } = bounds;
    if (surplus === undefined) return before;
    const [oldestKept] = await quests.find(
      { sessionId, ...CLOSED },
      { order: { field: 'updatedAt', direction: 'desc' }, offset: surplus.newest - 1, limit: 1 },
    );
    if (oldestKept === undefined) return before;
    return Math.max(before, Math.min(surplus.before, oldestKept.updatedAt));
  };

  const findLast = async (sessionId: string): Promise<MessageRecord | undefined> => {
    const order = { field: 'createdAt', direction: 'desc' } as const;
    const [last] = await messages.find({ sessionId }, { order, limit: 1 });
    return last;
  };

  return {
    kind: 'quests',
    byGroup: {
      list: listSessionGroups(store),
      async count(sessionId, bounds) {
        const cutoff = await findCutoff(sessionId, bounds);
        const old = await quests.count({ sessionId, ...CLOSED, updatedAt: { lt: cutoff } });
        if (old === 0) return 0;
        const last = await findLast(sessionId);
        const since = last?.createdAt ?? 0;
        const late = await quests.find({ sessionId, ...CLOSED, updatedAt: { gte: since, lt: cutoff } });
        return old - late.filter((quest) => isKept(quest, last)).length;
      },
      async trim(sessionId, bounds, limit) {
        const cutoff = await findCutoff(sessionId, bounds);
        const old = await quests.find(
          { sessionId, ...CLOSED, updatedAt: { lt: cutoff } },
          { order: { field: 'updatedAt', direction: 'asc' }, limit },
        );
        if (old.length === 0) return 0;
        const last = await findLast(sessionId);
        const ids = old.filter((quest) => !isKept(quest, last)).map(({ id }) => id);
        if (ids.length === 0) return 0;
        await deletion.quests(ids);
        return removeWhere(quests, { sessionId, id: { in: ids }, ...CLOSED }, { limit: ids.length });
      },
    },
  };
}

/**
 * Whether it is the last turn. The id of a turn of `useChat` follows from the last message before it, and names its hold:
 * it must not be used again. So a turn stays until a message is stored after it.
 */
function isKept({ id, kind, createdAt }: QuestRecord, last: MessageRecord | undefined): boolean {
  if (kind !== CHAT) return false;
  return last === undefined || (last.questId !== id && last.createdAt <= createdAt);
}
