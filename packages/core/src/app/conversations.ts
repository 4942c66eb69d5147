import { isId } from '../contract/identifiers.ts';
import {
  type ConversationEntry,
  type EntryRange,
  findAllEntries,
  findEntries,
  getEntry,
} from '../features/completions/conversations/entries.ts';
import { CONVERSATIONS, type ConversationRecord } from '../features/completions/conversations/records.ts';
import {
  addEntries,
  type KeepItems,
  keepItems,
  toGivenEntries,
} from '../features/completions/conversations/write.ts';
import { ownsSession } from '../features/sessions/access.ts';
import { SESSIONS } from '../features/sessions/records.ts';
import { type RemovalServices, removeSession } from '../features/sessions/removal.ts';
import { measured, nameFromMessage, newSession } from '../features/sessions/sessions.ts';
import {
  giveStorageBack,
  measureRecord,
  type StorageQuotas,
  takeStorage,
} from '../features/storage/usage.ts';
import type { Ids } from '../ports/ids.ts';
import type { Store } from '../ports/store.ts';
import { conflict } from '../shared/errors.ts';

export interface ConversationsServices extends RemovalServices {
  readonly ids: Ids;
  readonly storageQuotas: StorageQuotas;
}

export type Conversation = ConversationRecord;

/** Creates the items of one addition. @param source the owner of the items in their ids. */
type ToItems = (source: string) => readonly unknown[];

export interface NewConversation {
  readonly metadata: Readonly<Record<string, string>>;
  readonly toItems: ToItems;
  /** The beginning of a message, which names the session. */
  readonly message: string;
}

/**
 * The conversations of users, for a wire that offers them. A conversation is a session with the same id; only its owner
 * finds it. Ids of other users are unknown ids.
 */
export interface Conversations {
  /** @throws ApiError 422 `limit_exceeded` beyond the quota. */
  create(userId: string, conversation: NewConversation): Promise<Conversation>;
  find(userId: string, id: string): Promise<Conversation | undefined>;
  /** Notes that a response begins: it names the session that has no name yet, and changes the time of use. */
  use(conversation: Conversation, turn: { readonly model: string; readonly message: string }): Promise<void>;
  /** @throws ApiError 422 `limit_exceeded` beyond the quota. */
  setMetadata(
    userId: string,
    id: string,
    metadata: Readonly<Record<string, string>>,
  ): Promise<Conversation | undefined>;
  /** Deletes the session with everything that belongs to it. @returns false for an unknown one. */
  remove(userId: string, id: string): Promise<boolean>;
  /**
   * Adds items behind all others. @returns the id of the addition.
   * @throws ApiError 400 `limit_exceeded` for a conversation that is full, 422 beyond the quota.
   */
  add(conversation: Conversation, toItems: ToItems): Promise<string | undefined>;
  /** All entries, oldest first. */
  readAll(conversation: Conversation): Promise<readonly ConversationEntry[]>;
  readEntries(conversation: Conversation, range: EntryRange): Promise<readonly ConversationEntry[]>;
  getEntry(conversation: Conversation, entryId: string): Promise<ConversationEntry | undefined>;
  /** Deletes items of an entry. @param toLeft the items that are left. @returns false if nothing has changed. */
  keepItems(conversation: Conversation, entryId: string, toLeft: KeepItems): Promise<boolean>;
}

const MAX_REMOVALS = 3;

export function createConversations(services: ConversationsServices): Conversations {
  const { store, clock, ids, storageQuotas } = services;
  const sessions = store.collection(SESSIONS);
  const conversations = store.collection(CONVERSATIONS);

  /** @returns false if the conversation was deleted. */
  const addCounted = async (inner: Store, key: Conversation, source: string, items: readonly unknown[]) => {
    const entries = toGivenEntries(source, items);
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (!(await addEntries(inner, key, entries))) return false;
    await takeStorage(inner, { ownerId: key.ownerId, kind: 'sessions', bytes }, storageQuotas);
    return true;
  };

  return {
    async create(ownerId, { metadata, toItems, message }) {
      const name = nameFromMessage(message);
      const session = measured({
        ...newSession(services, ownerId, name),
        automaticName: name,
        isConversation: true,
      });
      const conversation: Conversation = {
        id: session.id,
        ownerId,
        metadata,
        sequence: 0,
        items: 0,
        characters: 0,
        bytes: measureRecord(JSON.stringify(metadata)),
        createdAt: session.firstCreated,
      };
      const source = ids.next();
      const items = toItems(source);
      await store.transaction(async (inner) => {
        const bytes = session.bytes + conversation.bytes;
        await takeStorage(inner, { ownerId, kind: 'sessions', bytes }, storageQuotas);
        await inner.collection(SESSIONS).insert(session);
        await inner.collection(CONVERSATIONS).insert(conversation);
        if (items.length > 0) await addCounted(inner, conversation, source, items);
      });
      return conversation;
    },

    async find(ownerId, id) {
      if (!isId(id)) return undefined;
      const [session, conversation] = await Promise.all([
        sessions.get(id, ownsSession(ownerId)),
        conversations.get(id, { ownerId }),
      ]);
      return session && conversation;
    },

    async use({ id, ownerId, sequence }, { model, message }) {
      const session = await sessions.get(id, ownsSession(ownerId));
      const isUnnamed = sequence === 0 && session?.automaticName === session?.name;
      const name = nameFromMessage(message);
      const patch = { lastUsedModel: model, lastUpdated: clock.now() };
      await sessions.update(
        id,
        { ...patch, ...(isUnnamed && { name, automaticName: name }) },
        ownsSession(ownerId),
      );
    },

    setMetadata: (ownerId, id, metadata) =>
      store.transaction(async (inner) => {
        const stored = inner.collection(CONVERSATIONS);
        const before = await stored.get(id, { ownerId });
        if (before === undefined) return undefined;
        const bytes = measureRecord(JSON.stringify(metadata));
        const amount = { ownerId, kind: 'sessions', bytes: Math.abs(bytes - before.bytes) } as const;
        if (bytes > before.bytes) await takeStorage(inner, amount, storageQuotas);
        else await giveStorageBack(inner, amount);
        return stored.update(id, { metadata, bytes }, { ownerId });
      }),

    async remove(ownerId, id) {
      for (let round = 0; round < MAX_REMOVALS; round += 1) {
        const session = await sessions.get(id, ownsSession(ownerId));
        if (session === undefined) return false;
        if ((await removeSession(services, session)) !== undefined) return true;
      }
      throw conflict('The conversation was changed concurrently. Try again.');
    },

    async add(conversation, toItems) {
      const source = ids.next();
      const items = toItems(source);
      const { id, ownerId } = conversation;
      const isAdded = await store.transaction((inner) => addCounted(inner, conversation, source, items));
      if (isAdded) await sessions.update(id, { lastUpdated: clock.now() }, ownsSession(ownerId));
      return isAdded ? source : undefined;
    },

    readAll: (conversation) => findAllEntries(store, conversation),
    readEntries: (conversation, range) => findEntries(store, conversation, range),
    getEntry: (conversation, entryId) => getEntry(store, conversation, entryId),
    keepItems: (conversation, entryId, toLeft) =>
      store.transaction((inner) => keepItems(inner, conversation, entryId, toLeft)),
  };
}
