import type { JobHandler } from '../../jobs/handler.ts';
import { retryAfterDelay } from '../../jobs/retry-after-delay.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { JobQueue, LeasedJob, NewJob } from '../../ports/queue.ts';
import { removeAll, removeWhere } from '../../ports/remove-where.ts';
import type { Store } from '../../ports/store.ts';
import { writesTo } from '../../ports/write-all.ts';
import { QUESTS } from '../../runs/records.ts';
import { giveStorageBack, storageReturn } from '../storage/usage.ts';
import { MESSAGES, type MessageRecord, SESSIONS, type SessionRecord } from './records.ts';

const KIND = 'sessions.purge';
const BATCH = 500;
/** Duration of the deletion of a session. */
const DELETION_MS = 1000;
/** Delay after which a copy is complete, or its process has ended. */
const COPY_MS = 15 * 60_000;

/**
 * Deletes the data of a deleted session. Enqueued before the deletion, and due after it and after its turns were stopped.
 * @param isDeleted whether the session is deleted in the same step.
 */
export function purgeJob(
  { id, ownerId: owner, isConversation }: SessionRecord,
  now: number,
  isDeleted = false,
): NewJob {
  const payload = {
    sessionId: id,
    ...(isConversation && { isConversation }),
    ...(isDeleted && { isDeleted }),
  };
  return { kind: KIND, key: getKey(id), owner, payload, runAt: now + DELETION_MS };
}

/**
 * Whether data of a deleted session is still to be deleted: a new session with its id would lose its data, too. False for a
 * queue without `findKeys`.
 */
export async function isPurging(queue: Pick<JobQueue, 'findKeys'>, sessionId: string): Promise<boolean> {
  const found = await queue.findKeys?.([getKey(sessionId)]);
  return found !== undefined && found.length > 0;
}

function getKey(sessionId: string): string {
  return `purge:${sessionId}`;
}

export function createPurgeHandler(services: {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly deletion: DeletionCleanup;
}): JobHandler {
  const sessions = services.store.collection(SESSIONS);
  const quests = services.store.collection(QUESTS);
  return {
    kind: KIND,
    concurrency: 2,
    maxPerOwner: 2,
    async run(job) {
      const { sessionId, isConversation, isDeleted } = job.payload as {
        readonly sessionId: string;
        readonly isConversation?: true;
        readonly isDeleted?: true;
      };
      if (isDeleted !== true && (await sessions.get(sessionId)) !== undefined) {
        // The deletion has not happened yet, or lost to a concurrent change.
        return retryAfterDelay(job);
      }
      if (isConversation !== true && (await purgeInOneStep(services, job, sessionId))) return 'finished';
      await services.deletion.session(sessionId);
      if (isConversation) await services.deletion.conversation(sessionId);
      await deleteMessages(services.store, sessionId);
      await removeAll(quests, { sessionId });
      return undefined;
    },
  };
}

/** Deletes the data of a small session, and completes the job. @returns false, having written nothing, where that is not possible. */
async function purgeInOneStep(
  { store, queue, deletion }: Parameters<typeof createPurgeHandler>[0],
  job: LeasedJob,
  sessionId: string,
): Promise<boolean> {
  const writes = deletion.toSessionWrites(sessionId);
  if (store.writeAll === undefined || queue.writes === undefined || writes === undefined) return false;
  const messages = await store.collection(MESSAGES).find({ sessionId }, { limit: BATCH });
  if (messages.length === BATCH) return false;
  return store.writeAll([
    queue.writes.finish(job),
    ...writes,
    // Exactly those whose bytes are returned.
    writesTo(MESSAGES).removeWhere({ sessionId }, messages.length),
    ...[...sumBytes(messages)].flatMap(([ownerId, bytes]) =>
      storageReturn({ ownerId, kind: 'sessions', bytes }),
    ),
    writesTo(QUESTS).removeWhere({ sessionId }, BATCH),
  ]);
}

/** Returns the storage usage of messages by owner, in bytes. */
export function sumBytes(messages: readonly MessageRecord[]): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>();
  for (const message of messages) {
    bytes.set(message.ownerId, (bytes.get(message.ownerId) ?? 0) + (message.bytes ?? 0));
  }
  return bytes;
}

/** Deletes the messages of an interrupted copy. Enqueued before the first message is copied. */
export function purgeCopyJob(copy: SessionRecord, now: number): NewJob {
  return { ...purgeJob(copy, now), key: `purge-copy:${copy.id}`, runAt: now + COPY_MS };
}

/** Deletes the messages of a session and releases their quota, in batches. */
export async function deleteMessages(store: Store, sessionId: string): Promise<void> {
  for (;;) {
    const deleted = await store.transaction(async (inner) => {
      const messages = inner.collection(MESSAGES);
      const batch = await messages.find({ sessionId }, { limit: BATCH });
      if (batch.length === 0) return 0;
      await removeWhere(messages, { id: { in: batch.map(({ id }) => id) } });
      for (const [ownerId, sum] of sumBytes(batch))
        await giveStorageBack(inner, { ownerId, kind: 'sessions', bytes: sum });
      return batch.length;
    });
    if (deleted < BATCH) return;
  }
}
