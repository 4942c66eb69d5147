import {
  type Conversation,
  type Conversations,
  MAX_CONVERSATION_CHARACTERS,
  MAX_CONVERSATION_ITEMS,
} from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createContinuedHistory } from './history.ts';

const ITEM = { type: 'message', role: 'user', content: 'a' };

/** A conversation of this size whose current response is in this state. */
function open(size: { items: number; characters: number }, status = 'done') {
  const conversation = { ...size, current: 'q' } as Conversation;
  const store = { collection: () => ({ get: async () => ({ status }) }) };
  const conversations: Partial<Conversations> = {
    readAll: async () => [{ content: { type: 'items', items: [{ id: 'i', item: ITEM }] } }] as never,
  };
  return createContinuedHistory(store as never, conversations as Conversations, conversation);
}

const full = expect.objectContaining({
  status: 400,
  message: 'conversation: the conversation is full; begin a new one with a summary',
});

describe('history of a conversation', () => {
  it('has its items, and the characters of the conversation as its size', async () => {
    const history = open({ items: 1, characters: 7 });
    expect(history.size).toBe(7);
    expect(await history.load(1, 1)).toEqual([ITEM]);
  });

  it('has room for as many items and characters as a conversation may have', async () => {
    const items = MAX_CONVERSATION_ITEMS;
    const characters = MAX_CONVERSATION_CHARACTERS;
    expect(await open({ items: items - 2, characters: characters - 3 }).load(2, 3)).toEqual([ITEM]);
    await expect(open({ items: items - 2, characters: 0 }).load(3, 0)).rejects.toEqual(full);
    await expect(open({ items: 0, characters: characters - 3 }).load(0, 4)).rejects.toEqual(full);
  });

  it('is locked while another response runs', async () => {
    await expect(open({ items: 0, characters: 0 }, 'running').load(1, 1)).rejects.toMatchObject({
      status: 409,
    });
  });
});
