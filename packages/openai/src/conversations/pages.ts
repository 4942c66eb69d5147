import type { Conversation, Conversations, EntryRange } from '@questline/core/internal';
import { issue } from '../errors.ts';
import type { ListedItem } from '../responses/listed-items.ts';
import { readEntryId } from './ids.ts';
import { readItems, toListed } from './items.ts';

/** Entries of one query. One has up to 100 items. */
const BATCH = 10;

export interface ItemQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** The id of an item. */
  readonly after?: string | undefined;
}

export interface ItemPage {
  readonly object: 'list';
  readonly data: readonly ListedItem[];
  readonly has_more: boolean;
  /** '' on an empty page. */
  readonly first_id: string;
  readonly last_id: string;
}

export function toPage(data: readonly ListedItem[], hasMore = false): ItemPage {
  const [first] = data;
  return {
    object: 'list',
    data,
    has_more: hasMore,
    first_id: first?.id ?? '',
    last_id: data.at(-1)?.id ?? '',
  };
}

/** Reads a page of items, and no more entries than it needs. @throws ApiError 400 for an unknown `after`. */
export async function readPage(
  conversations: Conversations,
  conversation: Conversation,
  { limit, order, after }: ItemQuery,
): Promise<ItemPage> {
  const found: ListedItem[] = [];
  let last: EntryRange['after'];
  if (after !== undefined) {
    const entryId = readEntryId(after);
    const entry = entryId === undefined ? undefined : await conversations.getEntry(conversation, entryId);
    const items = entry === undefined ? [] : readItems(entry);
    const place = items.findIndex(({ id }) => id === after);
    if (place < 0) throw issue('after', 'expected the id of an item of this conversation');
    const rest = order === 'asc' ? items.slice(place + 1) : items.slice(0, place).reverse();
    found.push(...rest.map(toListed));
    last = entry;
  }
  while (found.length <= limit) {
    const range = { direction: order, after: last, limit: BATCH };
    const entries = await conversations.readEntries(conversation, range);
    for (const entry of entries) {
      const items = readItems(entry);
      found.push(...(order === 'asc' ? items : items.toReversed()).map(toListed));
    }
    if (entries.length < BATCH) break;
    last = entries.at(-1);
  }
  return toPage(found.slice(0, limit), found.length > limit);
}
