import { removeWhere } from '../../../ports/remove-where.ts';
import type { Store } from '../../../ports/store.ts';
import { ApiError } from '../../../shared/errors.ts';
import { countStorage, giveStorageBack, measureRecord } from '../../storage/usage.ts';
import { type ConversationEntry, type ConversationKey, PART_ITEMS, toEntry, toEntryId } from './entries.ts';
import {
  CONVERSATION_ENTRIES,
  CONVERSATIONS,
  type ConversationEntryRecord,
  MAX_CONVERSATION_CHARACTERS,
  MAX_CONVERSATION_ITEMS,
} from './records.ts';

const BATCH = 200;

type NewEntry = Omit<ConversationEntryRecord, 'sequence' | 'conversationId' | 'ownerId'>;

/** Items, as their wire writes them, in parts of bounded length. @param source owns the ids of the items. */
export function toGivenEntries(source: string, items: readonly unknown[]): readonly NewEntry[] {
  const parts: NewEntry[] = [];
  for (let from = 0; from < items.length; from += PART_ITEMS) {
    const some = items.slice(from, from + PART_ITEMS);
    const given = JSON.stringify(some);
    parts.push({ id: toEntryId(source, from), given, ...measure(given, some.length) });
  }
  return parts;
}

export function toAnswerEntry(source: string, answer: string, context: string): NewEntry {
  return { id: toEntryId(source, undefined), answer, context, ...measure(answer + context, 1) };
}

/** The share of an entry in the limits of its conversation and in the storage of its owner. */
function measure(text: string, items: number): Pick<NewEntry, 'items' | 'characters' | 'bytes'> {
  return { items, characters: text.length, bytes: measureRecord(text) };
}

/**
 * Adds entries behind all others, in a transaction of the caller.
 * @param isPaid the answer of a paid call is stored beyond the limits too. @returns whether the conversation exists.
 * @throws ApiError 400 `limit_exceeded` for a conversation that is full.
 */
export async function addEntries(
  store: Store,
  { id, ownerId }: ConversationKey,
  entries: readonly NewEntry[],
  { isPaid = false }: { readonly isPaid?: boolean } = {},
): Promise<boolean> {
  const conversations = store.collection(CONVERSATIONS);
  const items = entries.reduce((sum, entry) => sum + entry.items, 0);
  const characters = entries.reduce((sum, entry) => sum + entry.characters, 0);
  const room = {
    ownerId,
    items: { lte: MAX_CONVERSATION_ITEMS - items },
    characters: { lte: MAX_CONVERSATION_CHARACTERS - characters },
  };
  const grown = await conversations.add(
    id,
    { sequence: entries.length, items, characters },
    isPaid ? { ownerId } : room,
  );
  if (grown === undefined) {
    if ((await conversations.get(id, { ownerId })) === undefined) return false;
    throw conversationFull();
  }
  const first = grown.sequence - entries.length + 1;
  for (const [index, entry] of entries.entries()) {
    const record = { ...entry, conversationId: id, ownerId, sequence: first + index };
    if (!(await store.collection(CONVERSATION_ENTRIES).insert(record))) throw new Error('duplicate entry id');
  }
  return true;
}

function conversationFull(): ApiError {
  return new ApiError(
    400,
    `A conversation has at most ${MAX_CONVERSATION_ITEMS} items of ${MAX_CONVERSATION_CHARACTERS} characters together. Begin a new one with a summary.`,
    { code: 'limit_exceeded', details: [{ path: 'conversation', message: 'the conversation is full' }] },
  );
}

/** The items of an entry that are left after a change. Undefined: nothing changes. */
export type KeepItems = (entry: ConversationEntry) => readonly unknown[] | undefined;

/** Deletes items of an entry, in a transaction of the caller. @returns false if nothing has changed. */
export async function keepItems(
  store: Store,
  { id, ownerId }: ConversationKey,
  entryId: string,
  toLeft: KeepItems,
): Promise<boolean> {
  const conversations = store.collection(CONVERSATIONS);
  // First: changes of one conversation wait for each other.
  if ((await conversations.add(id, { sequence: 1 }, { ownerId })) === undefined) return false;
  const entries = store.collection(CONVERSATION_ENTRIES);
  const before = await entries.get(entryId, { conversationId: id, ownerId });
  const left = before && toLeft(toEntry(before));
  if (before === undefined || left === undefined) return false;
  const given = JSON.stringify(left);
  const after = left.length === 0 ? { items: 0, characters: 0, bytes: 0 } : measure(given, left.length);
  if (left.length === 0) await entries.take(entryId);
  else await entries.update(entryId, { given, answer: undefined, context: undefined, ...after });
  await conversations.add(id, {
    items: after.items - before.items,
    characters: after.characters - before.characters,
  });
  await countStorage(store, { ownerId, kind: 'sessions', bytes: after.bytes - before.bytes });
  return true;
}

/** Deletes the items of a conversation, whose session is deleted. Safe to repeat. */
export async function removeConversation({ store }: { readonly store: Store }, id: string): Promise<void> {
  // Few sessions are conversations.
  if ((await store.collection(CONVERSATIONS).get(id)) !== undefined) {
    await store.transaction(async (inner) => {
      // First: no response adds items to a conversation that is gone.
      const taken = await inner.collection(CONVERSATIONS).take(id);
      if (taken === undefined) return;
      await giveStorageBack(inner, { ownerId: taken.ownerId, kind: 'sessions', bytes: taken.bytes });
    });
  }
  const left = await store.collection(CONVERSATION_ENTRIES).find({ conversationId: id }, { limit: 1 });
  if (left.length === 0) return;
  for (;;) {
    const deleted = await store.transaction(async (inner) => {
      const entries = inner.collection(CONVERSATION_ENTRIES);
      const batch = await entries.find({ conversationId: id }, { limit: BATCH });
      const [first] = batch;
      if (first === undefined) return 0;
      await removeWhere(entries, { id: { in: batch.map((entry) => entry.id) } });
      const bytes = batch.reduce((sum, entry) => sum + entry.bytes, 0);
      await giveStorageBack(inner, { ownerId: first.ownerId, kind: 'sessions', bytes });
      return batch.length;
    });
    if (deleted < BATCH) return;
  }
}
