import { isId, toEntryId } from '@questline/core/internal';
import type { ResponseBody } from '../responses/contract.ts';

const PREFIX = 'conv_';
const ITEM_ID = /^[a-z]{2,6}_([0-9a-f]{24})_(in)?(\d{1,6})$/;

/** @param id of the session. */
export function toConversationId(id: string): string {
  return PREFIX + id;
}

/** @returns the id of the session; undefined for a text that is no id of a conversation. */
export function readConversationId(text: string): string | undefined {
  const id = text.slice(PREFIX.length);
  return text.startsWith(PREFIX) && isId(id) ? id : undefined;
}

/** The id in the field `conversation` of a response. */
export function getConversationId({ conversation }: ResponseBody): string | undefined {
  return typeof conversation === 'string' ? conversation : conversation?.id;
}

/** @returns the id of the entry that has the item; undefined for a text that is no id of an item. */
export function readEntryId(itemId: string): string | undefined {
  const [, source, isGiven, index] = ITEM_ID.exec(itemId.slice(0, 200)) ?? [];
  if (source === undefined) return undefined;
  return toEntryId(source, isGiven === undefined ? undefined : Number(index));
}
