import type { AgentCard } from '../../contract/agent-card.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Publisher } from '../../ports/publisher.ts';
import type { QuestRecord } from '../../runs/records.ts';
import type { Incident } from '../../shared/incident.ts';
import type { AgentReach } from './reach.ts';
import type { AgentRecord } from './records.ts';

/** Events of the agents of a session. */
export type AgentEvent = { readonly sessionId: string } & (
  | { readonly type: 'agent_attached'; readonly agent: AgentCard }
  | { readonly type: 'agent_detached'; readonly agentId: string }
  /** Ids of the agents that contribute to an answer. */
  | { readonly type: 'agent_thinking'; readonly agents: readonly string[] }
  /** `messageId`: the quest that holds the answer. */
  | {
      readonly type: 'agent_response';
      readonly messageId: string;
      readonly contributingAgents: readonly AgentCard[];
    }
);

/** The event as listeners receive it. */
export type PublishedAgentEvent = AgentEvent & {
  /** ISO 8601, UTC. */
  readonly timestamp: string;
};

/** Publishes agent events of a session to its subscribers in any process. At most once, no replay. */
export interface AgentEvents {
  /** Fire and forget: a client that misses an event reads the session. */
  publish(event: AgentEvent): void;
  /**
   * Delivers the events of one session in order. The caller must check that the listener may read the session.
   * @returns a function that unsubscribes.
   */
  listen(sessionId: string, listener: (event: PublishedAgentEvent) => void): Promise<() => Promise<void>>;
  /**
   * Reduces an event to what a reader of the session may see: omits agents that the reader may not use anywhere, as HTTP
   * responses do. @returns undefined when nothing remains.
   */
  show(userId: string, event: PublishedAgentEvent): Promise<PublishedAgentEvent | undefined>;
}

export function createAgentEvents(services: {
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly agentReach: AgentReach;
  readonly onError: (incident: Incident) => void;
}): AgentEvents {
  const { publisher, clock, agentReach } = services;
  const visible = async (userId: string, ids: readonly string[]): Promise<ReadonlySet<string>> =>
    new Set((await agentReach.list(userId, ids)).map(({ id }) => id));

  return {
    async publish(event) {
      const message = JSON.stringify({ ...event, timestamp: new Date(clock.now()).toISOString() });
      try {
        await publisher.publish(getAgentTopic(event.sessionId), message);
      } catch (error) {
        services.onError({ operation: 'publish', requestId: '', error });
      }
    },
    listen: (sessionId, listener) =>
      publisher.subscribe(getAgentTopic(sessionId), (message) =>
        // Only this module writes to this topic.
        listener(JSON.parse(message) as PublishedAgentEvent),
      ),

    async show(userId, event) {
      switch (event.type) {
        case 'agent_attached':
          return (await visible(userId, [event.agent.id])).size > 0 ? event : undefined;
        case 'agent_thinking': {
          const shown = await visible(userId, event.agents);
          const agents = event.agents.filter((id) => shown.has(id));
          return agents.length > 0 ? { ...event, agents } : undefined;
        }
        case 'agent_response': {
          const ids = event.contributingAgents.map(({ id }) => id);
          const shown = await visible(userId, ids);
          const contributingAgents = event.contributingAgents.filter(({ id }) => shown.has(id));
          return contributingAgents.length > 0 ? { ...event, contributingAgents } : undefined;
        }
        default:
          // The session itself shows this id to its readers.
          return event;
      }
    },
  };
}

export function toAgentCard({ id, name, avatarUrl }: AgentRecord): AgentCard {
  return { id, name, avatarUrl: avatarUrl ?? null };
}

/** Publishes that agents work on an answer. @returns the note that the quest stores. */
export function publishThinking(
  events: AgentEvents,
  sessionId: string,
  agents: readonly AgentCard[],
): { agents?: readonly AgentCard[] } {
  if (agents.length === 0) return {};
  events.publish({ type: 'agent_thinking', sessionId, agents: agents.map(({ id }) => id) });
  return { agents };
}

/** Publishes that an answer of agents is ready. A failed answer publishes nothing. */
export function publishAnswer(
  events: AgentEvents,
  { id, sessionId, type, agents }: Pick<QuestRecord, 'id' | 'sessionId' | 'type' | 'agents'>,
): void {
  if (agents === undefined || type !== 'message') return;
  events.publish({ type: 'agent_response', sessionId, messageId: id, contributingAgents: agents });
}

/** The publisher's topic for the agent events of a session. */
function getAgentTopic(sessionId: string): string {
  return `session.${sessionId}.agents`;
}
