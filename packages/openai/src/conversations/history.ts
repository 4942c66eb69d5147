import {
  type Conversation,
  type Conversations,
  checkUnlocked,
  MAX_CONVERSATION_CHARACTERS,
  MAX_CONVERSATION_ITEMS,
  type ResponsesServices,
} from '@questline/core/internal';
import { issue } from '../errors.ts';
import type { ContinuedHistory } from '../responses/history.ts';
import { readItems } from './items.ts';

/** The items of a conversation for a response. `load` throws 409 `conversation_locked` while another one runs. */
export function createContinuedHistory(
  store: ResponsesServices['store'],
  conversations: Conversations,
  conversation: Conversation,
): ContinuedHistory {
  return {
    size: conversation.characters,
    async load(items, characters) {
      await checkUnlocked(store, conversation);
      const isFull =
        conversation.items + items > MAX_CONVERSATION_ITEMS ||
        conversation.characters + characters > MAX_CONVERSATION_CHARACTERS;
      if (isFull) throw issue('conversation', 'the conversation is full; begin a new one with a summary');
      const entries = await conversations.readAll(conversation);
      return entries.flatMap(readItems).map(({ item }) => item);
    },
  };
}
