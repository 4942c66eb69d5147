import type { PromptSource } from '../chat/prompt.ts';
import type { Store } from '../ports/store.ts';
import type { LinkReader } from '../sessions/links.ts';
import type { Switches } from '../settings/admin.ts';
import { personaOf } from './persona.ts';
import { AGENTS, type AgentRecord, canUseAgent } from './records.ts';

/** Agents in one turn: more would speak at cross purposes. */
const MOST_AGENTS = 3;
const TRIGGER = /(?<![\p{L}\p{N}_.-])@[\p{L}\p{N}_-]+/gu;

/** An agent that a message brings in. */
export interface Mention {
  readonly agent: AgentRecord;
  /** The session has it; otherwise it is a public one. */
  readonly isAttached: boolean;
}

/** The agents whose trigger words a message says: the session's own first, then public ones. */
export type FindMentions = (
  userId: string,
  message: string,
  /** Of the session. */
  agentIds: readonly string[],
) => Promise<readonly Mention[]>;

export interface MentionServices {
  readonly store: Store;
  readonly switches: Switches;
}

export function createFindMentions({ store, switches }: MentionServices): FindMentions {
  const agents = store.collection(AGENTS);

  const attached = async (userId: string, ids: readonly string[]): Promise<readonly AgentRecord[]> => {
    const found = await Promise.all(ids.map((id) => agents.get(id, canUseAgent(userId))));
    return found.filter((agent) => agent !== undefined);
  };

  return async (userId, message, agentIds) => {
    const words = [...new Set(message.toLowerCase().match(TRIGGER))].slice(0, MOST_AGENTS);
    if (words.length === 0 || !(await switches.current()).EnableAgents) return [];
    const own = await attached(userId, agentIds);
    const mentions = new Map<string, Mention>();
    for (const word of words) {
      const ownOne = own.find(({ triggerWords }) => triggerWords.includes(word));
      const agent =
        ownOne ?? (await agents.find({ isPublic: true, triggerWords: { has: word } }, { limit: 1 }))[0];
      if (agent !== undefined) mentions.set(agent.id, { agent, isAttached: ownOne !== undefined });
    }
    return [...mentions.values()];
  };
}

/** Brings the agents that a message mentions into its prompt. */
export function mentionedAgents(services: MentionServices): PromptSource {
  const findMentions = createFindMentions(services);
  return async ({ features, message, session, userId }) => {
    if (features?.agents !== true) return [];
    const mentions = await findMentions(userId, message, session.agentIds ?? []);
    return mentions.map(({ agent }) => personaOf(agent));
  };
}

/** Knows which agents a user may attach to a session; asks on about everything else. */
export function withAgentLinks(store: Store, others: LinkReader): LinkReader {
  const agents = store.collection(AGENTS);
  return {
    isReadable: async (kind, id, userId) =>
      kind === 'agent'
        ? (await agents.get(id, canUseAgent(userId))) !== undefined
        : others.isReadable(kind, id, userId),
  };
}
