import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { SHARING_COLUMNS, type ShareableRecord } from '../sharing/access.ts';

/** What may be set on a session. Absent: empty, off or unset. */
export interface SessionSettings {
  /** Files. */
  readonly knowledgeIds?: readonly string[] | undefined;
  readonly artifactIds?: readonly string[] | undefined;
  readonly agentIds?: readonly string[] | undefined;
  readonly tags?: readonly { readonly name: string; readonly strength: number }[] | undefined;
  readonly forceKnowledgeRetrieval?: boolean | undefined;
  readonly retrievalTags?: readonly string[] | undefined;
  readonly includeLibraryFiles?: boolean | undefined;
  readonly dataLakeId?: string | undefined;
  /** Written, never shown. */
  readonly systemPromptText?: string | undefined;
  /** Ids of tools this session always asks for. */
  readonly enabledTools?: readonly string[] | undefined;
  /** Ids of tools this session never gets. */
  readonly disabledTools?: readonly string[] | undefined;
  readonly temperature?: number | undefined;
  /** Calls of tools in one turn. */
  readonly maxToolCalls?: number | undefined;
}

/** A conversation. */
export interface SessionRecord extends ShareableRecord, SessionSettings {
  readonly name: string;
  /** What the server has called it, until somebody names it: while it is still called so, it has no name of its own. */
  readonly automaticName?: string;
  /** What was said in it, in short. */
  readonly summary?: string;
  /** Nobody has chosen its tags. */
  readonly hasAutomaticTags?: boolean;
  /** How many messages there were when it was looked through for the last time. */
  readonly enrichedAt?: number;
  readonly projectId?: string;
  readonly lastUsedModel?: string;
  /** When each agent was attached, by its id; absent: with the session. */
  readonly agentsAttachedAt?: Readonly<Record<string, number>>;
  readonly firstCreated: number;
  readonly lastUpdated: number;
}

export const SESSIONS = defineCollection<SessionRecord>({
  name: 'sessions',
  columns: {
    ...SHARING_COLUMNS,
    name: 'text',
    projectId: 'text',
    firstCreated: 'integer',
    lastUpdated: 'integer',
  },
  unique: [],
  indexes: [
    ['ownerId', 'firstCreated'],
    ['ownerId', 'lastUpdated'],
  ],
});

/** One thing that was said. Those of one turn share their `createdAt`; their ids tell the order. */
export interface MessageRecord extends StoredRecord {
  readonly sessionId: string;
  /** The session's. */
  readonly ownerId: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly questId?: string;
  readonly createdAt: number;
}

export const MESSAGES = defineCollection<MessageRecord>({
  name: 'messages',
  columns: { sessionId: 'text', ownerId: 'text', createdAt: 'integer' },
  unique: [],
  indexes: [['sessionId', 'createdAt']],
});
