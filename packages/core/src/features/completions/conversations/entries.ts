import type { FindOptions, Store } from '../../../ports/store.ts';
import { type ResponseOutput, unpackOutput } from '../responses/output.ts';
import { CONVERSATION_ENTRIES, type ConversationEntryRecord } from './records.ts';

/** Items of one part of an entry: a page reads few more items than it returns. */
export const PART_ITEMS = 100;
const PAGE = 1000;
const ANSWER = 'answer';

export interface ConversationEntry extends Pick<ConversationEntryRecord, 'id' | 'sequence'> {
  /** The owner of its items in their ids: the quest of a response, or one addition. */
  readonly source: string;
  readonly content: GivenItems | GivenAnswer;
}

interface GivenItems {
  readonly type: 'items';
  /** As their wire wrote them. */
  readonly items: readonly unknown[];
}

interface GivenAnswer {
  readonly type: 'answer';
  readonly output: ResponseOutput;
  readonly context: string;
}

/** The id of the entry with the given item at an index. @param index undefined: an item of the answer. */
export function toEntryId(source: string, index: number | undefined): string {
  return `${source}:${index === undefined ? ANSWER : Math.floor(index / PART_ITEMS)}`;
}

export function toEntry({
  id,
  sequence,
  given,
  answer,
  context = '{}',
}: ConversationEntryRecord): ConversationEntry {
  const source = id.slice(0, id.indexOf(':'));
  if (given === undefined) {
    return { id, sequence, source, content: { type: 'answer', output: unpackOutput(answer), context } };
  }
  return { id, sequence, source, content: { type: 'items', items: JSON.parse(given) as unknown[] } };
}

export async function getEntry(
  store: Store,
  { id: conversationId, ownerId }: ConversationKey,
  entryId: string,
): Promise<ConversationEntry | undefined> {
  const record = await store.collection(CONVERSATION_ENTRIES).get(entryId, { conversationId, ownerId });
  return record && toEntry(record);
}

/** A conversation and its owner. */
export interface ConversationKey {
  readonly id: string;
  readonly ownerId: string;
}

export interface EntryRange {
  readonly direction: 'asc' | 'desc';
  /** Only entries behind this one, in the direction. */
  readonly after?: Pick<ConversationEntry, 'id' | 'sequence'> | undefined;
  readonly limit: number;
}

/** Reads entries in order. */
export async function findEntries(
  store: Store,
  { id: conversationId, ownerId }: ConversationKey,
  { direction, after, limit }: EntryRange,
): Promise<readonly ConversationEntry[]> {
  const options: FindOptions<ConversationEntryRecord> = {
    order: { field: 'sequence', direction },
    limit,
    ...(after !== undefined && { after: { value: after.sequence, id: after.id } }),
  };
  const found = await store.collection(CONVERSATION_ENTRIES).find({ conversationId, ownerId }, options);
  return found.map(toEntry);
}

/** All entries, oldest first. */
export async function findAllEntries(
  store: Store,
  key: ConversationKey,
): Promise<readonly ConversationEntry[]> {
  const all: ConversationEntry[] = [];
  for (;;) {
    const page = await findEntries(store, key, { direction: 'asc', after: all.at(-1), limit: PAGE });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}
