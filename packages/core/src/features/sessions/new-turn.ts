import type { Store } from '../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { ApiError } from '../../shared/errors.ts';
import { SESSIONS, type SessionRecord } from './records.ts';

/** Another turn of the session has begun. */
export function sessionBusy(): ApiError {
  return new ApiError(409, 'An answer is still being written in this session. Wait for its end, or stop it.');
}

/**
 * Stores the quest of a turn, and its session if that is new: both or none, since a quest without its session cannot run.
 * @throws ApiError 409 when a quest or session with this id exists.
 * @param where the store, or a transaction that the caller commits.
 */
export async function storeTurn(
  services: { readonly store: Store },
  where: Store,
  quest: QuestRecord,
  newSession: SessionRecord | undefined,
): Promise<void> {
  const insert = async (inner: Store): Promise<void> => {
    const hasSession = newSession === undefined || (await inner.collection(SESSIONS).insert(newSession));
    const hasQuest = await inner.collection(QUESTS).insert(quest);
    if (!hasSession || !hasQuest) throw sessionBusy();
  };
  const isOpen = where !== services.store;
  if (isOpen || newSession === undefined) await insert(where);
  else await where.transaction(insert);
}
