import type { Store } from '../../ports/store.ts';
import { type StoreWrite, writesTo } from '../../ports/write-all.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { ApiError } from '../../shared/errors.ts';
import { expectStorage, requireStorage, type StorageQuotas } from '../storage/usage.ts';
import { SESSIONS, type SessionRecord } from './records.ts';

const sessionWrites = writesTo(SESSIONS);
const questWrites = writesTo(QUESTS);

/** Another turn of the session has begun. */
export function sessionBusy(): ApiError {
  return new ApiError(409, 'An answer is still being written in this session. Wait for its end, or stop it.');
}

/** The quota check and the writes of a turn, in one step. */
export function turnWrites(
  quest: QuestRecord,
  session: SessionRecord,
  isNew: boolean,
  quotas: StorageQuotas,
): readonly StoreWrite[] {
  return [
    ...expectStorage({ ownerId: session.ownerId, kind: 'sessions' }, quotas),
    ...(isNew ? [sessionWrites.insert(session)] : []),
    questWrites.insert(quest),
  ];
}

/**
 * Stores the quest of a turn, and its session if that is new: both or none, since a quest without its session cannot run.
 * @throws ApiError 409 when a quest or session with this id exists; 422 `limit_exceeded` when the quota is used up.
 * @param where the store, or a transaction that the caller commits.
 */
export function storeTurn(
  services: { readonly store: Store; readonly storageQuotas: StorageQuotas },
  where: Store,
  quest: QuestRecord,
  session: SessionRecord,
  isNew: boolean,
): Promise<void> {
  const newSession = isNew ? session : undefined;
  const isWhole = !isNew || where !== services.store;
  const checking = requireStorage(
    where,
    { ownerId: session.ownerId, kind: 'sessions' },
    services.storageQuotas,
  );
  if (checking !== undefined) return checking.then(() => insertWhole(where, isWhole, quest, newSession));
  return insertWhole(where, isWhole, quest, newSession);
}

/** @param isWhole whether the writes are one already: a single one, or in a transaction. */
function insertWhole(
  where: Store,
  isWhole: boolean,
  quest: QuestRecord,
  newSession: SessionRecord | undefined,
): Promise<void> {
  if (isWhole) return insertTurn(where, quest, newSession);
  return where.transaction((inner) => insertTurn(inner, quest, newSession));
}

async function insertTurn(
  where: Store,
  quest: QuestRecord,
  newSession: SessionRecord | undefined,
): Promise<void> {
  const hasSession = newSession === undefined || (await where.collection(SESSIONS).insert(newSession));
  const hasQuest = await where.collection(QUESTS).insert(quest);
  if (!hasSession || !hasQuest) throw sessionBusy();
}
