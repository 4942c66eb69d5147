import { describe, expect, it } from 'vitest';
import { defineCollection, type Filter, type StoredRecord } from '../ports/store.ts';
import { createMemoryStore } from './store.ts';

interface Item extends StoredRecord {
  readonly name?: string | null;
  readonly size?: number | null;
  readonly isOpen?: boolean;
  readonly tags?: readonly string[] | null;
}

const items = defineCollection<Item>({
  name: 'items',
  columns: { name: 'text', size: 'integer', isOpen: 'boolean', tags: 'list' },
  unique: [],
  indexes: [],
});

const ALL: readonly Item[] = [
  { id: 'none' },
  { id: 'null', name: null, size: null, tags: null },
  { id: 'zero', name: '', size: 0, isOpen: false, tags: [] },
  { id: 'one', name: 'Ada', size: 1, isOpen: true, tags: ['x'] },
  { id: 'two', name: 'bob', size: 2, isOpen: true, tags: ['x', 'y'] },
];

async function open() {
  const collection = createMemoryStore().collection(items);
  for (const item of ALL) await collection.insert(item);
  return collection;
}

/** The records that a list with this filter has, and those that have it as their guard. */
async function select(filter: Filter<Item>) {
  const collection = await open();
  const listed = (await collection.find(filter)).map(({ id }) => id);
  const guarded: string[] = [];
  for (const { id } of ALL) if (await collection.get(id, filter)) guarded.push(id);
  expect(listed.toSorted()).toEqual(guarded.toSorted());
  expect(await collection.count(filter)).toBe(guarded.length);
  return guarded;
}

const conditions: readonly [Filter<Item>, readonly string[]][] = [
  [{}, ['none', 'null', 'zero', 'one', 'two']],
  [{ id: 'one' }, ['one']],
  [{ name: 'Ada' }, ['one']],
  [{ name: null }, ['none', 'null']],
  [{ name: { not: null } }, ['zero', 'one', 'two']],
  [{ name: { not: 'Ada' } }, ['none', 'null', 'zero', 'two']],
  [{ name: { in: ['Ada', 'bob', 'eve'] } }, ['one', 'two']],
  [{ name: { in: [] } }, []],
  [{ isOpen: false }, ['zero']],
  [{ size: 0 }, ['zero']],
  [{ size: { lt: 1 } }, ['zero']],
  [{ size: { lte: 1 } }, ['zero', 'one']],
  [{ size: { gt: 1 } }, ['two']],
  [{ size: { gte: 1 } }, ['one', 'two']],
  [{ size: { gt: 0, lt: 2 } }, ['one']],
  [{ size: { gte: 2, lte: 1 } }, []],
  [{ name: { contains: 'a' } }, ['one']],
  [{ name: { contains: 'AD' } }, ['one']],
  [{ name: { contains: 'B' } }, ['two']],
  [{ name: { contains: '' } }, ['zero', 'one', 'two']],
  [{ tags: { has: 'x' } }, ['one', 'two']],
  [{ tags: { has: 'y' } }, ['two']],
  [{ isOpen: true, size: { gt: 1 } }, ['two']],
  [{ anyOf: [{ size: 0 }, { name: 'bob' }] }, ['zero', 'two']],
  [{ isOpen: true, anyOf: [{ size: 0 }, { name: 'bob' }] }, ['two']],
  [{ anyOf: [{ isOpen: true, size: 1 }] }, ['one']],
  [{ anyOf: [] }, []],
];

describe('a filter', () => {
  it.each(conditions)('%j selects %j', async (filter, ids) => {
    expect(await select(filter)).toEqual(ids);
  });

  it('selects no record by a part of a value that is no text', async () => {
    const filter = { size: { contains: '1' } } as unknown as Filter<Item>;
    expect(await select(filter)).toEqual([]);
  });

  it.each<[object, string]>([
    [{ other: 1 }, 'other is not a column of items'],
    [{ name: undefined }, 'invalid condition on name'],
    [{ name: {} }, 'invalid condition on name'],
    [{ name: { like: 'x' } }, 'invalid condition on name'],
    [{ size: { gt: undefined } }, 'invalid condition on size'],
    [{ size: { gt: 1, lt: undefined } }, 'invalid condition on size'],
    [{ size: { gt: 1, near: 2 } }, 'invalid condition on size'],
    [{ size: () => 1 }, 'invalid condition on size'],
    [{ anyOf: [{ size: 1 }, { other: 1 }] }, 'other is not a column of items'],
    [{ anyOf: [{ size: 1 }, { size: undefined }] }, 'invalid condition on size'],
  ])('is refused as a whole: %o', async (filter, message) => {
    const collection = await open();
    const refused = new TypeError(message);
    const after = { size: 9, ...filter } as Filter<Item>;
    for (const wrong of [filter as Filter<Item>, after]) {
      await expect(collection.find(wrong)).rejects.toThrow(refused);
      await expect(collection.count(wrong)).rejects.toThrow(refused);
      // Also for a record that does not match, and for an unknown id.
      for (const id of ['one', 'unknown']) await expect(collection.get(id, wrong)).rejects.toThrow(refused);
    }
  });

  it('matches no record that does not exist', async () => {
    const collection = await open();
    for (const filter of [{}, { name: null }, { name: { not: 'x' } }]) {
      expect(await collection.get('unknown', filter)).toBeUndefined();
      expect(await collection.update('unknown', { size: 1 }, filter)).toBeUndefined();
    }
  });
});
