import type { AgentCard } from '../../contract/agent-card.ts';
import type { SessionListener } from '../../contract/session.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError, forbidden, invalid, notFound } from '../../shared/errors.ts';
import { canEditSession, canReadSession } from '../sessions/access.ts';
import { addedBy, mayRemoveLink, withoutLinkedBy } from '../sessions/links.ts';
import { MAX_SESSION_AGENTS, SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { agentNotFound } from './agents.ts';
import { type AgentEvents, toAgentCard } from './events.ts';
import type { AgentReach } from './reach.ts';

/*
 * `agentIds` of the session is the only list of its attached agents: the session, its turns and these functions share it.
 */

export interface AttachmentServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly agentEvents: AgentEvents;
  readonly agentReach: AgentReach;
}

/**
 * @returns the agent and when it was attached.
 * @throws ApiError 404, 403 for a session or agent that the user may not use; 409 for an agent that is already attached.
 */
export async function attachAgent(
  { store, clock, agentEvents, agentReach }: AttachmentServices,
  userId: string,
  sessionId: string,
  agentId: string,
): Promise<{ agent: AgentCard; attachedAt: number }> {
  const now = clock.now();
  const usable = await agentReach.find(userId, agentId);
  const agent = await store.transaction(async (inner) => {
    const session = await editableSession(inner, userId, sessionId);
    if (usable === undefined) throw agentNotFound();
    const { agentIds = [] } = session;
    if (agentIds.includes(agentId)) {
      throw new ApiError(409, 'The agent is already attached', { applicationCode: 'AGENT_ALREADY_ATTACHED' });
    }
    if (agentIds.length >= MAX_SESSION_AGENTS) {
      throw invalid('agentId', `the session has the maximum of ${MAX_SESSION_AGENTS} agents`);
    }
    await inner.collection(SESSIONS).update(session.id, {
      agentIds: [...agentIds, agentId],
      agentsAttachedAt: { ...session.agentsAttachedAt, [agentId]: now },
      ...addedBy(session, userId, agentId),
      lastUpdated: now,
    });
    return toAgentCard(usable);
  });
  agentEvents.publish({ type: 'agent_attached', sessionId, agent });
  return { agent, attachedAt: now };
}

/**
 * A user with a write share detaches only the agents that this user has attached. A deleted agent can be detached.
 * @throws ApiError as `attachAgent`; 409 for an agent that is not attached; 403 for one that another user has attached.
 */
export async function detachAgent(
  { store, clock, agentEvents, agentReach }: AttachmentServices,
  userId: string,
  sessionId: string,
  agentId: string,
): Promise<number> {
  const now = clock.now();
  const usable = await agentReach.find(userId, agentId);
  await store.transaction(async (inner) => {
    const session = await editableSession(inner, userId, sessionId);
    const { agentIds = [], agentsAttachedAt = {} } = session;
    if (!agentIds.includes(agentId)) {
      if (usable === undefined) throw agentNotFound();
      throw new ApiError(409, 'The agent is not attached', { applicationCode: 'AGENT_NOT_ATTACHED' });
    }
    if (!mayRemoveLink(session, userId, agentId)) {
      throw forbidden('Only the owner of the session, or the user who attached this agent, may detach it');
    }
    const { [agentId]: _gone, ...others } = agentsAttachedAt;
    await inner.collection(SESSIONS).update(session.id, {
      agentIds: agentIds.filter((id) => id !== agentId),
      agentsAttachedAt: others,
      ...withoutLinkedBy(session, agentId),
      lastUpdated: now,
    });
  });
  agentEvents.publish({ type: 'agent_detached', sessionId, agentId });
  return now;
}

/** Returns the agents of a session that the user may use, in the order of the session. */
export async function attachedAgents(
  { store, agentReach }: Pick<AttachmentServices, 'store' | 'agentReach'>,
  userId: string,
  sessionId: string,
): Promise<readonly { agent: AgentCard; attachedAt: number }[]> {
  const session = await store.collection(SESSIONS).get(sessionId, canReadSession(userId));
  if (session === undefined) throw sessionNotFound();
  const { agentIds = [], agentsAttachedAt = {}, firstCreated } = session;
  const found = await agentReach.list(userId, agentIds);
  return found.map((agent) => ({
    agent: toAgentCard(agent),
    attachedAt: agentsAttachedAt[agent.id] ?? firstCreated,
  }));
}

/** Publishes which agents a change of a session attached and detached. */
export function publishAttachments({
  agentEvents,
  agentReach,
}: Pick<AttachmentServices, 'agentEvents' | 'agentReach'>): SessionListener {
  return async (userId, { id: sessionId, agentIds: before = [] }, { agentIds: after = [] }) => {
    const had = new Set(before);
    const has = new Set(after);
    for (const agentId of had) {
      if (!has.has(agentId)) agentEvents.publish({ type: 'agent_detached', sessionId, agentId });
    }
    const added = after.filter((id) => !had.has(id));
    for (const agent of await agentReach.list(userId, added)) {
      agentEvents.publish({ type: 'agent_attached', sessionId, agent: toAgentCard(agent) });
    }
  };
}

async function editableSession(store: Store, userId: string, id: string): Promise<SessionRecord> {
  const sessions = store.collection(SESSIONS);
  const session = await sessions.get(id, canEditSession(userId));
  if (session !== undefined) return session;
  const isReadable = (await sessions.get(id, canReadSession(userId))) !== undefined;
  throw isReadable ? forbidden('You may read this session, not change it') : sessionNotFound();
}

function sessionNotFound(): ApiError {
  return notFound('Session', 'SESSION_NOT_FOUND');
}
