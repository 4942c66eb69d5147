import type { RemovalCheck } from '../../operations/retention.ts';
import type { Clock } from '../../ports/clock.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { writesTo } from '../../ports/write-all.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { QUESTS } from '../../runs/records.ts';
import { stopQuest } from '../../runs/transitions.ts';
import { giveStorageBack, storageReturn } from '../storage/usage.ts';
import { purgeJob } from './purge.ts';
import { SESSIONS, type SessionRecord } from './records.ts';

const SESSION_DELETED = 'The session of this turn was deleted.';

export interface RemovalServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly questEvents: QuestEvents;
}

/** Deletes a session and stops its turns; a job deletes its data. @returns undefined if it was changed concurrently. */
export async function removeSession(
  { store, queue, clock, questEvents }: RemovalServices,
  session: SessionRecord,
): Promise<SessionRecord | undefined> {
  const { id } = session;
  if (!(await removeInOneStep({ store, queue, clock }, session))) {
    const deleted = await removeInTurn({ store, queue, clock }, session);
    if (deleted === undefined) return undefined;
  }
  await stopQuests({ store, clock, questEvents }, id);
  return session;
}

/** `removeSession`, unless the session is in use. A turn changes the session before it is stored. */
export async function removeUnusedSession(
  services: RemovalServices,
  session: SessionRecord,
  { isInUse }: Pick<RemovalCheck, 'isInUse'>,
): Promise<SessionRecord | undefined> {
  const deleted = await removeInTurn(services, session, isInUse);
  // Work that follows a turn changes no session.
  if (deleted !== undefined) await stopQuests(services, session.id);
  return deleted;
}

async function stopQuests(
  { store, clock, questEvents }: Pick<RemovalServices, 'store' | 'clock' | 'questEvents'>,
  sessionId: string,
): Promise<void> {
  const quests = store.collection(QUESTS);
  for (const quest of await quests.find({ sessionId, liveSince: { gt: 0 } })) {
    const stopped = await stopQuest(quests, quest.id, SESSION_DELETED, clock.now());
    if (stopped !== undefined) questEvents.stopped(quest.id);
  }
}

type RemoverServices = Pick<RemovalServices, 'store' | 'queue' | 'clock'>;

/** Deletes a session and enqueues its purge. @returns false, having written nothing, where that is not possible. */
async function removeInOneStep(
  { store, queue, clock }: RemoverServices,
  session: SessionRecord,
): Promise<boolean> {
  if (store.writeAll === undefined || queue.writes === undefined) return false;
  const { id, ownerId, lastUpdated, bytes = 0 } = session;
  return store.writeAll([
    writesTo(SESSIONS).remove(id, { ownerId, lastUpdated }),
    ...storageReturn({ ownerId, kind: 'sessions', bytes }),
    queue.writes.enqueue(purgeJob(session, clock.now(), true)),
  ]);
}

/** @returns undefined if the session was changed concurrently, or is in use. */
async function removeInTurn(
  { store, queue, clock }: RemoverServices,
  session: SessionRecord,
  isInUse?: RemovalCheck['isInUse'],
): Promise<SessionRecord | undefined> {
  const { id, ownerId, lastUpdated } = session;
  // The purge job is enqueued before the deletion: it does nothing while the session exists.
  await queue.enqueue(purgeJob(session, clock.now()));
  return store.transaction(async (inner) => {
    if (isInUse !== undefined && (await isInUse(inner))) return undefined;
    const taken = await inner.collection(SESSIONS).take(id, { ownerId, lastUpdated });
    if (taken !== undefined) {
      await giveStorageBack(inner, { ownerId, kind: 'sessions', bytes: taken.bytes ?? 0 });
    }
    return taken;
  });
}
