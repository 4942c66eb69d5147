import type { InUse } from '../../operations/retention.ts';
import type { Store } from '../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { changedSince, HELD } from '../../runs/states.ts';
import { SESSIONS } from './records.ts';

const BATCH = 500;
/** Ids in JSON text. */
const ID = /\b[0-9a-f]{24}\b/g;

/** What the turns that have not ended use: their sessions, and the files of their requests, results and sessions. */
export const turnsInUse: InUse = {
  sessions: findSessionsOfTurns,
  files: findFilesOfTurns,
};

async function findSessionsOfTurns(store: Store, ids: readonly string[]): Promise<readonly string[]> {
  const quests = store.collection(QUESTS);
  const found = new Set<string>();
  for (let after: string | undefined; ; ) {
    const held = await quests.find(
      { sessionId: { in: ids }, ...HELD },
      { limit: BATCH, ...(after !== undefined && { after: { value: after, id: after } }) },
    );
    for (const { sessionId } of held) found.add(sessionId);
    if (held.length < BATCH) return [...found];
    after = held.at(-1)?.id;
  }
}

/** Looks at all live turns: they are few, and the owner of a turn is not always that of its files. */
async function findFilesOfTurns(
  store: Store,
  ids: readonly string[],
  since?: number,
): Promise<readonly string[]> {
  const wanted = new Set(ids);
  const found = new Set<string>();
  const quests = store.collection(QUESTS);
  let after: { readonly value: number; readonly id: string } | undefined;
  for (;;) {
    const live = await quests.find(since === undefined ? { liveSince: { gt: 0 } } : changedSince(since), {
      order: { field: 'liveSince', direction: 'asc' },
      limit: BATCH,
      ...(after && { after }),
    });
    const sessionIds = [...new Set(live.map(({ sessionId }) => sessionId))];
    const sessions =
      sessionIds.length === 0 ? [] : await store.collection(SESSIONS).find({ id: { in: sessionIds } });
    const named = [...live.flatMap(listIds), ...sessions.flatMap(({ knowledgeIds = [] }) => knowledgeIds)];
    for (const id of named) if (wanted.has(id)) found.add(id);
    const last = live.at(-1);
    if (last?.liveSince === undefined || live.length < BATCH) return [...found];
    after = { value: last.liveSince, id: last.id };
  }
}

/** Each kind of quest has its own fields for files. */
function listIds({ request, files, toolPayloads, wait }: QuestRecord): readonly string[] {
  return JSON.stringify([request, files, toolPayloads, wait?.calls]).match(ID) ?? [];
}
