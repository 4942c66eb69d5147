import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../memory/store.ts';
import { getWithMatch } from './get-with-match.ts';
import type { KeyedTake, RateDecision } from './limiter.ts';
import { removeAll, removeWhere } from './remove-where.ts';
import { defineCollection, type Store, type StoredRecord } from './store.ts';
import { takeAll } from './take-all.ts';

interface Item extends StoredRecord {
  readonly group: string;
  readonly parentId?: string;
}

const ITEMS = defineCollection<Item>({
  name: 'items',
  columns: { group: 'text', parentId: 'text' },
  unique: [],
  indexes: [],
});

/** A store without the optional methods, with so many items of the group `a`, and one of another. */
async function setUp(count: number) {
  const memory = createMemoryStore();
  const items = memory.collection(ITEMS);
  for (let at = 0; at < count; at += 1) await items.insert({ id: `${at}`.padStart(5, '0'), group: 'a' });
  await items.insert({ id: 'other', group: 'b' });
  const collection: Store['collection'] = (definition) => {
    const { removeWhere: _, getWithMatch: __, ...rest } = memory.collection(definition);
    return rest;
  };
  const limits: unknown[] = [];
  const older = collection(ITEMS);
  const counting: typeof older = {
    ...older,
    find(filter, options) {
      limits.push(options?.limit);
      if (limits.length > 10) throw new Error('too many reads');
      return older.find(filter, options);
    },
  };
  return { store: { ...memory, collection }, items, older: counting, limits, left: () => items.count({}) };
}

describe('deletion in a store without a method for it', () => {
  it.each([
    [3, 2, 2, [2]],
    [3, 3, 3, [3]],
    [3, 4, 3, [4]],
    [0, 4, 0, [4]],
  ])('of %i records and at most %i takes %i', async (count, limit, removed, limits) => {
    const { older, left, limits: asked } = await setUp(count);
    expect(await removeWhere(older, { group: 'a' }, { limit })).toBe(removed);
    expect([await left(), asked]).toEqual([count - removed + 1, limits]);
  });

  it('goes on where another process has taken some', async () => {
    const { older, items, left } = await setUp(5);
    let isFirst = true;
    const racing: typeof older = {
      ...older,
      async find(...given) {
        const found = await older.find(...given);
        if (isFirst) await items.take('00000');
        isFirst = false;
        return found;
      },
    };
    expect(await removeWhere(racing, { group: 'a' }, { limit: 4 })).toBe(4);
    expect(await left()).toBe(1);
  });

  it.each([0, -1, 1.5, 1001])('does not accept the limit %d', async (limit) => {
    const { older, left } = await setUp(1);
    await expect(removeWhere(older, {}, { limit })).rejects.toThrow(RangeError);
    expect(await left()).toBe(2);
  });

  it('takes 1,000 records without a limit, and all of them in batches', async () => {
    const { older, left, limits } = await setUp(1100);
    expect(await removeWhere(older, { group: 'a' })).toBe(1000);
    expect([await left(), limits]).toEqual([101, [1000]]);
    const all = await setUp(1000);
    expect(await removeAll(all.older, { group: 'a' })).toBe(1000);
    expect([await all.left(), all.limits]).toEqual([1, [500, 500, 500]]);
  });

  it('is left to a store that has a method for it', async () => {
    const { items, older } = await setUp(2);
    const calls: unknown[] = [];
    const newer = {
      ...older,
      removeWhere: async (...given: unknown[]) => {
        calls.push(given);
        return 7;
      },
    };
    expect(await removeWhere(newer, { group: 'a' }, { limit: 1 })).toBe(7);
    expect([calls, await items.count({})]).toEqual([[[{ group: 'a' }, { limit: 1 }]], 3]);
  });
});

describe('record with the match of another one', () => {
  it.each([
    ['other', 'b', true],
    ['other', 'a', false],
    ['gone', 'b', false],
    [undefined, 'b', false],
  ])('that it names %s in the group %s: %s', async (parentId, group, matches) => {
    const { items, store } = await setUp(0);
    const record: Item = { id: 'child', group: 'c', ...(parentId !== undefined && { parentId }) };
    await items.insert(record);
    const reference = { field: 'parentId', collection: ITEMS, filter: { group } } as const;
    expect(await getWithMatch(store, ITEMS, 'child', reference)).toEqual({ record, matches });
    expect(await getWithMatch(store, ITEMS, 'never', reference)).toBeUndefined();
  });
});

describe('takes of a limiter without a method for several', () => {
  const decide = (allowed: boolean): RateDecision => ({ allowed }) as RateDecision;
  const takes = ['a', 'b', 'c'].map((key) => ({ key, windows: [] }) as unknown as KeyedTake);

  it.each([
    ['', ['a', 'b', 'c'], [true, true, true]],
    ['b', ['a', 'b'], [true, false]],
    ['a', ['a'], [false]],
  ])('end with the one that is refused: %j', async (refused, keys, allowed) => {
    const asked: unknown[] = [];
    const take = async (key: string, _windows: unknown, now: number) => {
      asked.push(key);
      expect(now).toBe(5);
      return decide(key !== refused);
    };
    const decisions = await takeAll({ take }, takes, 5);
    expect([asked, decisions.map((one) => one.allowed)]).toEqual([keys, allowed]);
  });

  it('are left to a limiter that has it', async () => {
    const limiter = { take: () => expect.unreachable(), takeAll: async () => [decide(true)] };
    expect(await takeAll(limiter, takes, 5)).toEqual([decide(true)]);
  });
});
