import type { GroupRetention, RemovalCheck, RetentionRule } from '../../operations/retention.ts';
import { createTimedRetention } from '../../operations/timed-retention.ts';
import type { Store } from '../../ports/store.ts';
import { SESSIONS } from './records.ts';
import { type RemovalServices, removeUnusedSession } from './removal.ts';

export function sessionRetention(services: RemovalServices): RetentionRule {
  const sessions = services.store.collection(SESSIONS);
  const remove = async (id: string, check: RemovalCheck): Promise<boolean> => {
    const session = await sessions.get(id, { lastUpdated: { lt: check.before } });
    return session !== undefined && (await removeUnusedSession(services, session, check)) !== undefined;
  };
  return {
    kind: 'sessions',
    ...createTimedRetention(services.store, { collection: sessions, time: 'lastUpdated', remove }),
  };
}

/** Lists sessions whose messages and turns can be deleted. The items of a conversation of a wire refer to each other. */
export function listSessionGroups(store: Store): GroupRetention['list'] {
  const sessions = store.collection(SESSIONS);
  return async (after, limit) => {
    const page = await sessions.find(
      {},
      { limit, ...(after !== undefined && { after: { value: after, id: after } }) },
    );
    const last = page.at(-1);
    return {
      groups: page.filter(({ isConversation }) => isConversation !== true).map(({ id }) => id),
      ...(last !== undefined && page.length === limit && { next: last.id }),
    };
  };
}
