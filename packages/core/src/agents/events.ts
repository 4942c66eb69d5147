import type { Incident } from '../incident.ts';
import type { Clock } from '../ports/clock.ts';
import type { Publisher } from '../ports/publisher.ts';
import type { QuestRecord } from '../quests/records.ts';
import type { AgentRecord } from './records.ts';

/** As much of an agent as is shown beside other things. */
export interface AgentCard {
  readonly id: string;
  readonly name: string;
  readonly avatarUrl: string | null;
}

/** What happens to the agents of a session. @see the service specification, "Realtime channel events" */
export type AgentEvent = { readonly sessionId: string } & (
  | { readonly type: 'agent_attached'; readonly agent: AgentCard }
  | { readonly type: 'agent_detached'; readonly agentId: string }
  /** Ids of the agents that contribute to an answer. */
  | { readonly type: 'agent_thinking'; readonly agents: readonly string[] }
  /** `messageId`: the quest the answer is read from. */
  | {
      readonly type: 'agent_response';
      readonly messageId: string;
      readonly contributingAgents: readonly AgentCard[];
    }
);

/** As listeners get it. */
export type PublishedAgentEvent = AgentEvent & {
  /** ISO 8601, UTC. */
  readonly timestamp: string;
};

/** Tells whoever looks at a session, in any process, what its agents do. At most once, no replay. */
export interface AgentEvents {
  /** Nobody waits for it: who missed an event reads the session. */
  tell(event: AgentEvent): void;
  /**
   * Hears of one session's events in the order they happened. Whether the listener may read that session is the business
   * of who subscribes. @returns ends it.
   */
  listen(sessionId: string, listener: (event: PublishedAgentEvent) => void): Promise<() => Promise<void>>;
}

export function createAgentEvents(services: {
  readonly publisher: Publisher;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}): AgentEvents {
  const { publisher, clock } = services;
  return {
    async tell(event) {
      const message = JSON.stringify({ ...event, timestamp: new Date(clock.now()).toISOString() });
      try {
        await publisher.publish(agentTopicOf(event.sessionId), message);
      } catch (error) {
        services.onError({ operation: 'publish', requestId: '', error });
      }
    },
    listen: (sessionId, listener) =>
      publisher.subscribe(agentTopicOf(sessionId), (message) =>
        // Nobody else writes to this topic.
        listener(JSON.parse(message) as PublishedAgentEvent),
      ),
  };
}

export function toAgentCard({ id, name, avatarUrl }: AgentRecord): AgentCard {
  return { id, name, avatarUrl: avatarUrl ?? null };
}

/** Tells that agents are at work on an answer. @returns what the quest is to remember of it. */
export function agentsThink(
  events: AgentEvents,
  sessionId: string,
  agents: readonly AgentCard[],
): { agents?: readonly AgentCard[] } {
  if (agents.length === 0) return {};
  events.tell({ type: 'agent_thinking', sessionId, agents: agents.map(({ id }) => id) });
  return { agents };
}

/** Tells that an answer agents speak in is ready; of a failed one there is nothing to tell. */
export function agentsAnswered(
  events: AgentEvents,
  { id, sessionId, type, agents }: Pick<QuestRecord, 'id' | 'sessionId' | 'type' | 'agents'>,
): void {
  if (agents === undefined || type !== 'message') return;
  events.tell({ type: 'agent_response', sessionId, messageId: id, contributingAgents: agents });
}

/** Where the publisher carries the events of a session's agents. */
function agentTopicOf(sessionId: string): string {
  return `session.${sessionId}.agents`;
}
