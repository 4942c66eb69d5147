import { SHARING_COLUMNS, type ShareableRecord } from '../../access/access.ts';
import type { SessionSettings } from '../../contract/session.ts';
import { defineCollection, type StoredRecord } from '../../ports/store.ts';

/** Maximum files, and artifacts, of one session. */
export const MAX_SESSION_LINKS = 500;

/** Maximum agents of one session. */
export const MAX_SESSION_AGENTS = 100;

/** A conversation. */
export interface SessionRecord extends ShareableRecord, SessionSettings {
  readonly name: string;
  /** The automatic name, until a user renames the session: while both names are equal, the user has chosen none. */
  readonly automaticName?: string;
  /** It is a conversation of a wire, whose items are kept beside it. */
  readonly isConversation?: true;
  /** A summary of the messages. */
  readonly summary?: string;
  /** The tags are automatic: no user has chosen them. */
  readonly hasAutomaticTags?: boolean;
  /** Number of the newest message at the last enrichment. */
  readonly enrichedAt?: number;
  readonly projectId?: string;
  readonly lastUsedModel?: string;
  /** Ids of deleted records that left the lists lately: a client that still sends them gets no error. */
  readonly droppedLinks?: readonly string[] | undefined;
  /** The users who added links, by the id of the linked record. Absent: the owner. */
  readonly linkedBy?: Readonly<Record<string, string>> | undefined;
  /** Attachment time of each agent, by its id; absent: the session's creation time. */
  readonly agentsAttachedAt?: Readonly<Record<string, number>>;
  /** Its storage usage in bytes. Absent: not counted. */
  readonly bytes?: number;
  readonly firstCreated: number;
  readonly lastUpdated: number;
}

export const SESSIONS = defineCollection<SessionRecord>({
  name: 'sessions',
  columns: {
    ...SHARING_COLUMNS,
    name: 'text',
    projectId: 'text',
    agentIds: 'list',
    knowledgeIds: 'list',
    artifactIds: 'list',
    dataLakeId: 'text',
    firstCreated: 'integer',
    lastUpdated: 'integer',
  },
  unique: [],
  indexes: [
    ['ownerId', 'firstCreated'],
    ['ownerId', 'lastUpdated'],
    ['lastUpdated'],
    ['agentIds'],
    ['knowledgeIds'],
    ['artifactIds'],
    ['dataLakeId'],
  ],
});

/** A message. The messages of one turn share their `createdAt`; their ids define the order. */
export interface MessageRecord extends StoredRecord {
  readonly sessionId: string;
  /** The owner of the session. */
  readonly ownerId: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** Its storage usage in bytes. Absent: stored before usage was counted. */
  readonly bytes?: number;
  readonly questId?: string;
  /** The id that the page of the user gave to the message. */
  readonly pageId?: string;
  /** The files that the user attached. */
  readonly fileIds?: readonly string[];
  /**
   * Its number in the session, from 1, whatever has been deleted since. Messages of turns that ran at once may share one.
   * Absent: unknown.
   */
  readonly number?: number;
  readonly createdAt: number;
}

export const MESSAGES = defineCollection<MessageRecord>({
  name: 'messages',
  columns: { sessionId: 'text', ownerId: 'text', createdAt: 'integer' },
  unique: [],
  indexes: [['sessionId', 'createdAt']],
});
