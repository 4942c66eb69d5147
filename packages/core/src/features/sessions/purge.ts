import type { JobHandler } from '../../jobs/handler.ts';
import { retryAfterDelay } from '../../jobs/retry-after-delay.ts';
import type { DeletionCleanup } from '../../operations/deletion.ts';
import type { NewJob } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { QUESTS } from '../../runs/records.ts';
import { giveStorageBack } from '../storage/usage.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from './records.ts';

const KIND = 'sessions.purge';
const BATCH = 200;
/** Delay after which a copy is complete, or its process has ended. */
const COPY_MS = 15 * 60_000;

/** Deletes the data of a deleted session. */
export function purgeJob(session: SessionRecord): NewJob {
  const { id, ownerId: owner } = session;
  return { kind: KIND, key: `purge:${id}`, owner, payload: { sessionId: id } };
}

export function createPurgeHandler(services: {
  readonly store: Store;
  readonly deletion: DeletionCleanup;
}): JobHandler {
  const sessions = services.store.collection(SESSIONS);
  const quests = services.store.collection(QUESTS);
  return {
    kind: KIND,
    concurrency: 1,
    async run(job) {
      const { sessionId } = job.payload as { sessionId: string };
      if ((await sessions.get(sessionId)) !== undefined) {
        // The deletion has not happened yet, or lost to a concurrent change.
        return retryAfterDelay(job);
      }
      await services.deletion.session(sessionId);
      await deleteMessages(services.store, sessionId);
      await deleteBySession(quests, sessionId);
      return undefined;
    },
  };
}

/** Deletes the messages of an interrupted copy. Enqueued before the first message is copied. */
export function purgeCopyJob(copy: SessionRecord, now: number): NewJob {
  return { ...purgeJob(copy), key: `purge-copy:${copy.id}`, runAt: now + COPY_MS };
}

/** Deletes the messages of a session and releases their quota, in batches. */
export async function deleteMessages(store: Store, sessionId: string): Promise<void> {
  for (;;) {
    const batch = await store.collection(MESSAGES).find({ sessionId }, { limit: BATCH });
    await store.transaction(async (inner) => {
      const bytes = new Map<string, number>();
      for (const { id } of batch) {
        const taken = await inner.collection(MESSAGES).take(id);
        if (taken !== undefined)
          bytes.set(taken.ownerId, (bytes.get(taken.ownerId) ?? 0) + (taken.bytes ?? 0));
      }
      for (const [ownerId, sum] of bytes)
        await giveStorageBack(inner, { ownerId, kind: 'sessions', bytes: sum });
    });
    if (batch.length < BATCH) return;
  }
}

/** Deletes all records of a session, in batches. */
export async function deleteBySession(
  collection: {
    find(filter: { sessionId: string }, options: { limit: number }): Promise<readonly { id: string }[]>;
    take(id: string): Promise<unknown>;
  },
  sessionId: string,
): Promise<void> {
  for (;;) {
    const batch = await collection.find({ sessionId }, { limit: BATCH });
    for (const { id } of batch) await collection.take(id);
    if (batch.length < BATCH) return;
  }
}
