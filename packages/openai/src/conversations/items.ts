import type { ConversationEntry } from '@questline/core/internal';
import type { WholeItem } from '../responses/contract-items.ts';
import { toInputItemId } from '../responses/ids.ts';
import { type ListedItem, toListedItem } from '../responses/listed-items.ts';
import { isResultRecord, isServerCall } from '../responses/server-items.ts';
import { type StoredItem, toOutputItems, toStoredItems, type WrittenWith } from '../responses/stored-wire.ts';

/** An item of a conversation, as it is stored. */
interface KeptItem extends StoredItem {
  /** The item as clients get it, where it differs from what a client sends. */
  readonly listed?: ListedItem;
}

/** Items that a client gave, with their ids. @param source the owner of the ids. */
export function toKeptItems(source: string, items: readonly WholeItem[]): readonly KeptItem[] {
  return items.map((item, index) => ({ id: toInputItemId(item, source, index), item }));
}

/** What the answer of a response needs so that its items can be written. */
export function toContext({ tools, include }: WrittenWith): string {
  return JSON.stringify({ tools, include });
}

/** The items of an entry in order. */
export function readItems({ source, content }: ConversationEntry): readonly KeptItem[] {
  if (content.type === 'items') return content.items as readonly KeptItem[];
  const output = toOutputItems(source, JSON.parse(content.context) as WrittenWith, content.output);
  return toStoredItems(output).map((stored, index) => ({
    ...stored,
    listed: { ...output[index], id: stored.id },
  }));
}

/** An item in the form of the list. */
export function toListed(item: KeptItem): ListedItem {
  return item.listed ?? toListedItem(item);
}

/**
 * The items that are left when one is deleted. Reasoning directly before it is deleted too: no model accepts reasoning
 * before another item than its own. With a call of a tool that the server ran its result is deleted, which follows it.
 * @returns undefined if there is no such item.
 */
export function withoutItem(items: readonly KeptItem[], id: string): readonly KeptItem[] | undefined {
  const place = items.findIndex((item) => item.id === id);
  if (place < 0) return undefined;
  let from = place;
  while (items[from - 1]?.item.type === 'reasoning' && !isResultRecord(items[from - 1]?.item)) from -= 1;
  const to =
    isServerCall(items[place]?.item) && isResultRecord(items[place + 1]?.item) ? place + 2 : place + 1;
  return [...items.slice(0, from), ...items.slice(to)];
}

/** The text of the first message of the user. */
export function findMessage(items: readonly WholeItem[]): string {
  for (const item of items) {
    if (item.type !== 'message' || item.role !== 'user') continue;
    const { content } = item;
    if (typeof content === 'string') return content;
    for (const part of content) if (part.type === 'input_text' || part.type === 'text') return part.text;
  }
  return '';
}
