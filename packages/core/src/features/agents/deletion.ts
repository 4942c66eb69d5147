import type { JobHandler } from '../../jobs/handler.ts';
import { retryAfterDelay } from '../../jobs/retry-after-delay.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { dropped } from '../sessions/links.ts';
import { SESSIONS } from '../sessions/records.ts';
import type { AgentEvents } from './events.ts';
import { AGENTS } from './records.ts';

const KIND = 'agents.detach';
const BATCH = 200;

export interface AgentDeletionServices {
  readonly store: Store;
  readonly queue: JobQueue;
}

/** Deletes an agent; a job detaches it from every session. @returns false when the user does not own it. */
export async function deleteOwnAgent(
  { store, queue }: AgentDeletionServices,
  ownerId: string,
  id: string,
): Promise<boolean> {
  const agents = store.collection(AGENTS);
  if ((await agents.get(id, { ownerId })) === undefined) return false;
  // The job is enqueued before the deletion: it does nothing while the agent exists.
  await queue.enqueue({ kind: KIND, key: `detach:${id}`, payload: { agentId: id } });
  return (await agents.take(id, { ownerId })) !== undefined;
}

/** Detaches a deleted agent from its sessions, and publishes the change to their subscribers. */
export function createDetachHandler(services: {
  readonly store: Store;
  readonly agentEvents: AgentEvents;
}): JobHandler {
  const { store, agentEvents } = services;

  const detach = (sessionId: string, agentId: string): Promise<boolean> =>
    store.transaction(async (inner) => {
      const sessions = inner.collection(SESSIONS);
      const session = await sessions.get(sessionId, { agentIds: { has: agentId } });
      if (session === undefined) return false;
      const { agentIds = [], agentsAttachedAt = {} } = session;
      const { [agentId]: _gone, ...others } = agentsAttachedAt;
      const change = {
        agentIds: agentIds.filter((id) => id !== agentId),
        agentsAttachedAt: others,
        ...dropped(session, agentId),
      };
      return (await sessions.update(sessionId, change)) !== undefined;
    });

  return {
    kind: KIND,
    concurrency: 1,
    async run(job) {
      const { agentId } = job.payload as { agentId: string };
      // The deletion has not happened yet, or has failed.
      if ((await store.collection(AGENTS).get(agentId)) !== undefined) return retryAfterDelay(job);
      for (;;) {
        const batch = await store.collection(SESSIONS).find({ agentIds: { has: agentId } }, { limit: BATCH });
        for (const { id: sessionId } of batch) {
          if (await detach(sessionId, agentId)) {
            agentEvents.publish({ type: 'agent_detached', sessionId, agentId });
          }
        }
        if (batch.length < BATCH) return undefined;
      }
    },
  };
}
