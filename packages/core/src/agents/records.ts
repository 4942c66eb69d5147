import { defineCollection, type Filter } from '../ports/store.ts';
import { canRead, SHARING_COLUMNS, type ShareableRecord } from '../sharing/access.ts';

/** How an agent is. Empty text: nothing said. */
export interface AgentPersonality {
  readonly majorMotivation: string;
  readonly minorMotivation: string;
  readonly characterFlaw: string;
  readonly uniqueQuirk: string;
  readonly responseStyle: string;
}

/** Somebody to talk to: a way to behave, kept under a name. The public and the application API show it in two views. */
export interface AgentRecord extends ShareableRecord {
  readonly name: string;
  readonly description: string;
  /** Shown to nobody but the owner. */
  readonly systemPrompt?: string | undefined;
  readonly preferredModel?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** Ids of tools. Absent: all; a list: no others. */
  readonly allowedTools?: readonly string[] | undefined;
  readonly deniedTools?: readonly string[] | undefined;
  /** Each with its `@`, in lower case. */
  readonly triggerWords: readonly string[];
  /** Anybody may read and use it. */
  readonly isPublic: boolean;
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
    triggerWords: 'list',
    createdAt: 'integer',
    updatedAt: 'integer',
  },
  unique: [],
  indexes: [['ownerId', 'createdAt'], ['isPublic', 'createdAt'], ['triggerWords']],
});

/** May see it and have it work: the owner, those it is shared with, and everybody when it is public. */
export function canUseAgent(userId: string): Filter<AgentRecord> {
  return { anyOf: [canRead(userId), { isPublic: true }] };
}
