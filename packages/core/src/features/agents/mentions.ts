import { canRead } from '../../access/access.ts';
import { type LinkReader, toIdSet } from '../../access/links.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import type { Filter, Store } from '../../ports/store.ts';
import type { PromptSource } from '../../prompts/prompt.ts';
import { toPersona } from './persona.ts';
import type { AgentReach, AgentSession } from './reach.ts';
import { AGENTS, type AgentRecord } from './records.ts';

/** The maximum number of agents in one turn: with more, the answers conflict. */
const MAX_MENTIONS = 3;
const TRIGGER = /(?<![\p{L}\p{N}_.-])@[\p{L}\p{N}_-]+/gu;

/** An agent that a message mentions. */
export interface Mention {
  readonly agent: AgentRecord;
  /** The agent is attached to the session, or owned by the user. */
  readonly isChosen: boolean;
}

/**
 * Returns the agents whose trigger words occur in a message. If several agents share a word, the first in this order wins:
 * attached to the session, owned by the user, shared with the user, published.
 */
export type FindMentions = (
  userId: string,
  message: string,
  /** Undefined: a new session. */
  session: AgentSession | undefined,
) => Promise<readonly Mention[]>;

export interface MentionServices {
  readonly store: Store;
  readonly adminSettings: AdminSettingsReader;
  readonly agentReach: AgentReach;
}

export function createFindMentions({ store, adminSettings, agentReach }: MentionServices): FindMentions {
  const agents = store.collection(AGENTS);

  /** The oldest agent wins, so that a later agent cannot take over a trigger word. */
  const first = async (word: string, which: Filter<AgentRecord>): Promise<AgentRecord | undefined> => {
    const filter: Filter<AgentRecord> = { ...which, triggerWords: { has: word } };
    const order = { field: 'createdAt', direction: 'asc' } as const;
    return (await agents.find(filter, { order, limit: 1 }))[0];
  };

  return async (userId, message, session) => {
    const words = [...new Set(message.toLowerCase().match(TRIGGER))].slice(0, MAX_MENTIONS);
    if (words.length === 0 || !(await adminSettings.current()).EnableAgents) return [];
    const attached = session === undefined ? [] : await agentReach.attached(userId, session);
    const published = await agentReach.published();
    const mentions = new Map<string, Mention>();
    for (const word of words) {
      const chosen =
        attached.find(({ triggerWords }) => triggerWords.includes(word)) ??
        (await first(word, { ownerId: userId }));
      const agent = chosen ?? (await first(word, canRead(userId))) ?? (await first(word, published));
      if (agent !== undefined) mentions.set(agent.id, { agent, isChosen: chosen !== undefined });
    }
    return [...mentions.values()];
  };
}

/** Adds the agents that the message mentions to the prompt of the turn. */
export function mentionedAgents(services: MentionServices): PromptSource {
  const findMentions = createFindMentions(services);
  return async ({ features, message, session, userId }) => {
    if (features?.agents !== true) return [];
    const mentions = await findMentions(userId, message, session);
    return mentions.map(({ agent }) => ({ ...toPersona(agent, userId), perTurn: true }));
  };
}

/** Returns the agents that a user may attach to a session; delegates every other reference. */
export function withAgentLinks(reach: AgentReach, others: LinkReader): LinkReader {
  return {
    findReadable: async (kind, ids, userId) =>
      kind === 'agent' ? toIdSet(await reach.list(userId, ids)) : others.findReadable(kind, ids, userId),
    findExisting: async (kind, ids) =>
      kind === 'agent' ? reach.listExisting(ids) : others.findExisting(kind, ids),
  };
}
