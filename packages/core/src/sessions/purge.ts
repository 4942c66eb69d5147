import { unlinkArtifacts } from '../artifacts/artifacts.ts';
import { lookAgain } from '../engine/look-again.ts';
import type { JobHandler } from '../engine/worker.ts';
import { ENRICHMENT_PLACES } from '../enrichment/records.ts';
import { STEPS } from '../executions/records.ts';
import type { NewJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { removeFromProjects } from '../projects/members.ts';
import { QUESTS } from '../quests/records.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from './records.ts';

const KIND = 'sessions.purge';
const BATCH = 200;

/** Clears away what a deleted session leaves behind. */
export function purgeJob(session: SessionRecord): NewJob {
  return { kind: KIND, key: `purge:${session.id}`, payload: { sessionId: session.id } };
}

export function createPurgeHandler(services: { readonly store: Store }): JobHandler {
  const sessions = services.store.collection(SESSIONS);
  const messages = services.store.collection(MESSAGES);
  const quests = services.store.collection(QUESTS);
  const steps = services.store.collection(STEPS);
  return {
    kind: KIND,
    concurrency: 1,
    async run(job) {
      const { sessionId } = job.payload as { sessionId: string };
      if ((await sessions.get(sessionId)) !== undefined) {
        // It is about to be deleted, or its deletion lost to a change.
        return lookAgain(job);
      }
      await removeFromProjects(services.store, 'sessionIds', sessionId);
      await unlinkArtifacts(services.store, 'sessionId', sessionId);
      await services.store.collection(ENRICHMENT_PLACES).take(sessionId);
      await takeAll(messages, sessionId);
      await takeAll(quests, sessionId);
      await takeAll(steps, sessionId);
      return undefined;
    },
  };
}

async function takeAll(
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
