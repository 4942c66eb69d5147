import { defineCollection, type StoredRecord } from '../../../ports/store.ts';

/*
 * A conversation is a session whose items are kept in the format of a wire. The record of the conversation has the id of
 * its session. Items are added in entries, which are never divided between two transactions.
 */

/** Maximum items of one conversation. An answer counts as one. */
export const MAX_CONVERSATION_ITEMS = 10_000;
/** Maximum characters of the items of one conversation, as JSON. The body of a request has the same limit. */
export const MAX_CONVERSATION_CHARACTERS = 25 * 2 ** 20;

export interface ConversationRecord extends StoredRecord {
  readonly ownerId: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Grows with every change of the items: the place of the newest entry. */
  readonly sequence: number;
  readonly items: number;
  readonly characters: number;
  /** The quest of the response that began last. */
  readonly current?: string;
  /** Bytes of the metadata that count for the storage quota. */
  readonly bytes: number;
  readonly createdAt: number;
}

export const CONVERSATIONS = defineCollection<ConversationRecord>({
  name: 'conversations',
  columns: {
    ownerId: 'text',
    sequence: 'integer',
    items: 'integer',
    characters: 'integer',
    current: 'text',
  },
  unique: [],
  indexes: [],
});

/** Items that were given together, or the answer of a response. Its id is `<source>:<part>`. */
export interface ConversationEntryRecord extends StoredRecord {
  readonly conversationId: string;
  readonly ownerId: string;
  readonly sequence: number;
  /** The items, as their wire reads them. JSON text of a list. Absent: an answer. */
  readonly given?: string | undefined;
  /** The output of a response, as its quest keeps it. */
  readonly answer?: string | undefined;
  /** What the wire needs to write the items of the answer. JSON text. */
  readonly context?: string | undefined;
  /** Number of items; 1 for an answer. */
  readonly items: number;
  readonly characters: number;
  /** Bytes that count for the storage quota. */
  readonly bytes: number;
}

export const CONVERSATION_ENTRIES = defineCollection<ConversationEntryRecord>({
  name: 'conversation_entries',
  columns: { conversationId: 'text', ownerId: 'text', sequence: 'integer' },
  unique: [],
  indexes: [['conversationId', 'sequence']],
});
