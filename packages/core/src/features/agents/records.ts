import { canRead, SHARING_COLUMNS, type ShareableRecord } from '../../access/access.ts';
import { defineCollection, type Filter } from '../../ports/store.ts';

/** The traits of an agent. Empty text: not set. */
export interface AgentPersonality {
  readonly majorMotivation: string;
  readonly minorMotivation: string;
  readonly characterFlaw: string;
  readonly uniqueQuirk: string;
  readonly responseStyle: string;
}

/** An agent: a named, reusable persona. The public and the application API show it in two views. */
export interface AgentRecord extends ShareableRecord {
  readonly name: string;
  readonly description: string;
  /** Visible only to the owner. */
  readonly systemPrompt?: string | undefined;
  readonly preferredModel?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Ids of the allowed tools. Absent: all. */
  readonly allowedTools?: readonly string[] | undefined;
  readonly deniedTools?: readonly string[] | undefined;
  /** Each with its `@`, in lower case. */
  readonly triggerWords: readonly string[];
  /** The owner wants to publish the agent to all users. `canUseAgent` decides whether that takes effect. */
  readonly isPublic: boolean;
  /** An administrator's decision about the current content. Absent: no decision. A change by any other user removes an approval. */
  readonly publication?: 'approved' | 'refused' | undefined;
  readonly avatarUrl?: string | undefined;
  readonly personality: AgentPersonality;
  readonly capabilities: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const AGENTS = defineCollection<AgentRecord>({
  name: 'agents',
  columns: {
    ...SHARING_COLUMNS,
    name: 'text',
    description: 'text',
    isPublic: 'boolean',
    publication: 'text',
    triggerWords: 'list',
    createdAt: 'integer',
    updatedAt: 'integer',
  },
  unique: [],
  indexes: [
    ['ownerId', 'createdAt'],
    ['isPublic', 'createdAt'],
    ['publication', 'createdAt'],
    ['triggerWords'],
  ],
});

/** Whether an agent is public as soon as its owner publishes it, or only after an administrator's approval. */
export type AgentPublishing = 'approval' | 'open';

/** Agents that all users may read and use. Agents from before approvals existed have no decision. */
export function isPublished(publishing: AgentPublishing): Filter<AgentRecord> {
  return publishing === 'open'
    ? { isPublic: true, publication: { not: 'refused' } }
    : { isPublic: true, publication: 'approved' };
}

/** Agents that a user may read and use: own agents, those shared with the user, and published ones. */
export function canUseAgent(userId: string, publishing: AgentPublishing): Filter<AgentRecord> {
  return { anyOf: [canRead(userId), isPublished(publishing)] };
}
