import type { InUse } from '../../../operations/retention.ts';
import { QUESTS } from '../../../runs/records.ts';
import { HELD } from '../../../runs/states.ts';
import { CONVERSATIONS } from '../conversations/records.ts';

/** The responses that run, and their conversations. */
export const responsesInUse: InUse = {
  async responses(store, ids) {
    const held = await store.collection(QUESTS).find({ id: { in: ids }, ...HELD });
    return held.map(({ id }) => id);
  },
  async sessions(store, ids) {
    const conversations = await store.collection(CONVERSATIONS).find({ id: { in: ids } });
    const currents = conversations.flatMap(({ current }) => current ?? []);
    if (currents.length === 0) return [];
    const held = await store.collection(QUESTS).find({ id: { in: currents }, ...HELD });
    const running = new Set(held.map(({ id }) => id));
    return conversations.filter(({ current = '' }) => running.has(current)).map(({ id }) => id);
  },
};
