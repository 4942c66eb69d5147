import { describe, expect, it } from 'vitest';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { createMemoryStore } from './store.ts';

interface Item extends StoredRecord {
  readonly parent?: string;
  readonly size?: number;
  readonly note?: string;
}

const items = defineCollection<Item>({
  name: 'items',
  columns: { parent: 'text', size: 'integer' },
  unique: [],
  indexes: [],
});

const create = () => createMemoryStore().collection(items);

describe('a record with its reference', () => {
  it.each([
    ['x', { size: { gt: 1 } }, true],
    ['x', { size: 1 }, false],
    ['unknown', {}, false],
    [undefined, {}, false],
  ] as const)('to %j has a match with %j: %j', async (parent, filter, matches) => {
    const collection = create();
    await collection.insert({ id: 'x', size: 2 });
    const record = { id: 'a', ...(parent !== undefined && { parent }) };
    await collection.insert(record);
    const reference = { field: 'parent', collection: items, filter } as const;
    expect(await collection.getWithMatch?.('a', reference)).toEqual({ record, matches });
    expect(await collection.getWithMatch?.('unknown', reference)).toBeUndefined();
  });

  it('does not refer by a number, nor by a field that is no column', async () => {
    const collection = create();
    await collection.insert({ id: '2' });
    await collection.insert({ id: 'a', size: 2, note: '2' });
    const reference = { collection: items, filter: {} };
    expect(await collection.getWithMatch?.('a', { ...reference, field: 'size' })).toMatchObject({
      matches: false,
    });
    for (const id of ['a', 'unknown']) {
      const asked = collection.getWithMatch?.(id, { ...reference, field: 'note' });
      await expect(asked).rejects.toThrow('note is not a column of items');
    }
  });
});
