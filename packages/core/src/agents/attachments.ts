import { ApiError, forbidden, notFound } from '../errors.ts';
import { isId } from '../http/identifiers.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { agentNotFound } from './agents.ts';
import { type AgentCard, type AgentEvents, toAgentCard } from './events.ts';
import { AGENTS, canUseAgent } from './records.ts';

/*
 * The agents of a session stand in its `agentIds`, the one list that the session, its turns and these functions share.
 */

export interface AttachmentServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly agentEvents: AgentEvents;
}

/**
 * @returns the agent and when it was attached.
 * @throws ApiError 404, 403 for a session or agent that is not the user's to use; 409 for an agent that is there already.
 */
export async function attachAgent(
  { store, clock, agentEvents }: AttachmentServices,
  userId: string,
  sessionId: string,
  agentId: string,
): Promise<{ agent: AgentCard; attachedAt: number }> {
  const now = clock.now();
  const agent = await store.transaction(async (inner) => {
    const session = await editableSession(inner, userId, sessionId);
    const found = await usableCard(inner, userId, agentId);
    const { agentIds = [] } = session;
    if (agentIds.includes(agentId)) {
      throw new ApiError(409, 'The agent is attached already', { applicationCode: 'AGENT_ALREADY_ATTACHED' });
    }
    await inner.collection(SESSIONS).update(session.id, {
      agentIds: [...agentIds, agentId],
      agentsAttachedAt: { ...session.agentsAttachedAt, [agentId]: now },
      lastUpdated: now,
    });
    return found;
  });
  agentEvents.tell({ type: 'agent_attached', sessionId, agent });
  return { agent, attachedAt: now };
}

/** @throws ApiError as `attachAgent`; 409 for an agent that is not there. One that was deleted can be detached. */
export async function detachAgent(
  { store, clock, agentEvents }: AttachmentServices,
  userId: string,
  sessionId: string,
  agentId: string,
): Promise<number> {
  const now = clock.now();
  await store.transaction(async (inner) => {
    const session = await editableSession(inner, userId, sessionId);
    const { agentIds = [], agentsAttachedAt = {} } = session;
    if (!agentIds.includes(agentId)) {
      await usableCard(inner, userId, agentId);
      throw new ApiError(409, 'The agent is not attached', { applicationCode: 'AGENT_NOT_ATTACHED' });
    }
    const { [agentId]: _gone, ...others } = agentsAttachedAt;
    await inner.collection(SESSIONS).update(session.id, {
      agentIds: agentIds.filter((id) => id !== agentId),
      agentsAttachedAt: others,
      lastUpdated: now,
    });
  });
  agentEvents.tell({ type: 'agent_detached', sessionId, agentId });
  return now;
}

/** Those of a session's agents that the user may use, in the order of the session. */
export async function attachedAgents(
  store: Store,
  userId: string,
  sessionId: string,
): Promise<readonly { agent: AgentCard; attachedAt: number }[]> {
  const session = await store.collection(SESSIONS).get(sessionId, canReadSession(userId));
  if (session === undefined) throw sessionNotFound();
  const { agentIds = [], agentsAttachedAt = {}, firstCreated } = session;
  const agents = store.collection(AGENTS);
  const found = await Promise.all(agentIds.map((id) => agents.get(id, canUseAgent(userId))));
  return found
    .filter((agent) => agent !== undefined)
    .map((agent) => ({
      agent: toAgentCard(agent),
      attachedAt: agentsAttachedAt[agent.id] ?? firstCreated,
    }));
}

/** When the agents of a list that replaces another were attached: those that stay keep their time. */
export function attachmentTimes(
  { agentIds: before = [], agentsAttachedAt = {}, firstCreated }: SessionRecord,
  agentIds: readonly string[] | undefined,
  now: number,
): Pick<SessionRecord, 'agentsAttachedAt'> {
  if (agentIds === undefined) return {};
  const timeOf = (id: string) => (before.includes(id) ? (agentsAttachedAt[id] ?? firstCreated) : now);
  return { agentsAttachedAt: Object.fromEntries(agentIds.map((id) => [id, timeOf(id)])) };
}

/** Tells which agents a changed session has beyond those it had, and which no more. */
export async function tellOfAgents(
  { store, agentEvents }: Pick<AttachmentServices, 'store' | 'agentEvents'>,
  userId: string,
  { id: sessionId, agentIds: before = [] }: SessionRecord,
  { agentIds: after = [] }: SessionRecord,
): Promise<void> {
  const agents = store.collection(AGENTS);
  for (const agentId of before.filter((id) => !after.includes(id))) {
    agentEvents.tell({ type: 'agent_detached', sessionId, agentId });
  }
  for (const agentId of after.filter((id) => !before.includes(id))) {
    const agent = await agents.get(agentId, canUseAgent(userId));
    if (agent !== undefined)
      agentEvents.tell({ type: 'agent_attached', sessionId, agent: toAgentCard(agent) });
  }
}

async function editableSession(store: Store, userId: string, id: string): Promise<SessionRecord> {
  const sessions = store.collection(SESSIONS);
  const session = await sessions.get(id, canEditSession(userId));
  if (session !== undefined) return session;
  const isReadable = (await sessions.get(id, canReadSession(userId))) !== undefined;
  throw isReadable ? forbidden('You may read this session, not change it') : sessionNotFound();
}

async function usableCard(store: Store, userId: string, agentId: string): Promise<AgentCard> {
  const agent = isId(agentId) ? await store.collection(AGENTS).get(agentId, canUseAgent(userId)) : undefined;
  if (agent === undefined) throw agentNotFound();
  return toAgentCard(agent);
}

function sessionNotFound(): ApiError {
  return notFound('Session', 'SESSION_NOT_FOUND');
}
