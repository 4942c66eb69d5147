import type { Conversation, ConversationEntry, Conversations, EntryRange } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { readPage } from './pages.ts';

const CONVERSATION = {} as Conversation;
const toSource = (number: number): string => number.toString(16).padStart(24, '0');
const toItemId = (entry: number, index: number): string => `msg_${toSource(entry)}_in${index}`;

/** A conversation with entries of so many items. */
function open(...sizes: readonly number[]) {
  const entries = sizes.map((size, entry) => ({
    id: `${toSource(entry)}:0`,
    source: toSource(entry),
    content: {
      type: 'items',
      items: Array.from({ length: size }, (_, index) => ({
        id: toItemId(entry, index),
        item: { type: 'message', role: 'user', content: 'x' },
      })),
    },
  })) as unknown as ConversationEntry[];
  const ranges: EntryRange[] = [];
  const conversations = {
    getEntry: async (_conversation: Conversation, id: string) => entries.find((entry) => entry.id === id),
    async readEntries(_conversation: Conversation, range: EntryRange) {
      ranges.push(range);
      if (ranges.length > 1000) throw new Error('too many reads');
      const ordered = range.direction === 'asc' ? entries : entries.toReversed();
      const from = range.after === undefined ? 0 : ordered.indexOf(range.after as ConversationEntry) + 1;
      return ordered.slice(from, from + range.limit);
    },
  } as unknown as Conversations;
  const ids = sizes.flatMap((size, entry) =>
    Array.from({ length: size }, (_, index) => toItemId(entry, index)),
  );
  const read = (limit: number, order: 'asc' | 'desc' = 'asc', after?: string) =>
    readPage(conversations, CONVERSATION, { limit, order, after });
  return { read, ids, ranges };
}

describe('page of items', () => {
  it.each(['asc', 'desc'] as const)('follows the last item of the page before (%s)', async (order) => {
    const { read, ids } = open(3, 1, 0, 2, ...Array.from({ length: 25 }, () => 1), 4);
    const expected = order === 'asc' ? ids : ids.toReversed();
    for (const limit of [1, 2, 5, 100]) {
      const found: string[] = [];
      for (
        let after: string | undefined, isMore = true;
        isMore && found.length <= ids.length;
        after = found.at(-1)
      ) {
        const page = await read(limit, order, after);
        expect(page.data.length).toBe(page.has_more ? limit : page.data.length);
        found.push(...page.data.map(({ id }) => id));
        isMore = page.has_more;
      }
      expect(found).toEqual(expected);
    }
  });

  it('names its first and its last item', async () => {
    const { read, ids } = open(3);
    const page = await read(2);
    expect(page).toEqual({
      ...{ object: 'list', has_more: true, first_id: ids[0], last_id: ids[1] },
      data: [
        expect.objectContaining({ id: ids[0], type: 'message' }),
        expect.objectContaining({ id: ids[1] }),
      ],
    });
    expect((await read(3)).has_more).toBe(false);
    const empty = { object: 'list', data: [], has_more: false, first_id: '', last_id: '' };
    expect(await read(3, 'asc', ids[2])).toEqual(empty);
    expect(await open().read(3)).toEqual(empty);
  });

  it.each([
    [5, 1, [10]],
    [9, 20, [10]],
    [10, 20, [10, 10]],
    [25, 5, [10]],
    [25, 10, [10, 10]],
    [25, 100, [10, 10, 10]],
  ])('of %i entries with at most %i items needs reads of %j', async (count, limit, limits) => {
    const { read, ranges } = open(...Array.from({ length: count }, () => 1));
    expect((await read(limit)).data).toHaveLength(Math.min(count, limit));
    expect(ranges.map((range) => range.limit)).toEqual(limits);
  });

  it('needs no further entry where the rest of one fills it', async () => {
    const { read, ranges, ids } = open(5, 1);
    expect((await read(2, 'asc', ids[0])).data.map(({ id }) => id)).toEqual(ids.slice(1, 3));
    expect(ranges).toEqual([]);
  });

  it.each(['msg', toItemId(9, 0), toItemId(0, 3), `msg_${toSource(0)}_0`])(
    'does not begin behind %s',
    async (after) => {
      await expect(open(3).read(2, 'asc', after)).rejects.toMatchObject({
        ...{ status: 400, message: 'after: expected the id of an item of this conversation' },
        details: [{ path: 'after' }],
      });
    },
  );
});
