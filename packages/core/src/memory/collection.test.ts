import { describe, expect, it } from 'vitest';
import { defineCollection, type StoredRecord } from '../ports/store.ts';
import { createMemoryStore } from './store.ts';

interface Item extends StoredRecord {
  readonly owner: string;
  readonly size?: number | null;
  readonly isOpen?: boolean;
  readonly tags?: readonly string[];
  readonly note?: { readonly text: string };
}

const items = defineCollection<Item>({
  name: 'items',
  secretFields: { owner: false, tags: false, note: false },
  columns: { owner: 'text', size: 'integer', isOpen: 'boolean', tags: 'list' },
  unique: [['owner']],
  indexes: [],
});

const create = () => createMemoryStore().collection(items);

describe('the records of a collection', () => {
  it('are frozen copies', async () => {
    const collection = create();
    const item = { id: 'a', owner: 'x', note: { text: 'x' } };
    expect(await collection.insert(item)).toBe(true);
    item.note.text = 'changed';
    const kept = await collection.get('a');
    expect(kept?.note).toEqual({ text: 'x' });
    expect([Object.isFrozen(kept), Object.isFrozen(kept?.note)]).toEqual([true, true]);
    const patch = { note: { text: 'y' } };
    const updated = await collection.update('a', patch);
    patch.note.text = 'changed';
    expect([updated?.note, Object.isFrozen(updated)]).toEqual([{ text: 'y' }, true]);
  });

  it('are unique by id and by their rules', async () => {
    const collection = create();
    expect(await collection.insert({ id: 'a', owner: 'x' })).toBe(true);
    expect(await collection.insert({ id: 'a', owner: 'y' })).toBe(false);
    expect(await collection.insert({ id: 'b', owner: 'x' })).toBe(false);
    expect(await collection.insert({ id: 'b', owner: 'y' })).toBe(true);
    await expect(collection.update('b', { owner: 'x' })).rejects.toMatchObject({ name: 'UniqueViolation' });
    expect(await collection.update('b', { owner: 'y', size: 1 })).toEqual({ id: 'b', owner: 'y', size: 1 });
    expect(await collection.count({})).toBe(2);
  });

  it.each([
    ['owner', 5],
    ['size', 1.5],
    ['size', 2 ** 53],
    ['size', '1'],
    ['isOpen', 1],
    ['tags', 'x'],
    ['tags', [1]],
    ['tags', ['x', 1]],
  ])('fit their columns, unlike %s of %j', async (field, value) => {
    const collection = create();
    const item = { id: 'a', owner: 'x', [field]: value };
    const type = items.columns[field as keyof typeof items.columns];
    await expect(collection.insert(item)).rejects.toThrow(new TypeError(`items.${field} is of type ${type}`));
    await collection.insert({ id: 'a', owner: 'x' });
    await expect(collection.update('a', { [field]: value })).rejects.toThrow(TypeError);
    expect(await collection.get('a')).toEqual({ id: 'a', owner: 'x' });
  });

  it('may have any value that fits, and null', async () => {
    const collection = create();
    const item = { id: 'a', owner: 'x', size: Number.MAX_SAFE_INTEGER, isOpen: false, tags: ['x', 'y'] };
    expect(await collection.insert(item)).toBe(true);
    expect(await collection.update('a', { size: null, tags: [] })).toMatchObject({ size: null, tags: [] });
  });
});

describe('a change of a record', () => {
  const fill = async () => {
    const collection = create();
    await collection.insert({ id: 'a', owner: 'x', size: 1, note: { text: 'x' } });
    return collection;
  };

  it('replaces fields, removes undefined ones and keeps the id', async () => {
    const collection = await fill();
    const patch = { size: 2, note: undefined, id: 'b' };
    expect(await collection.update('a', patch)).toEqual({ id: 'a', owner: 'x', size: 2 });
    expect(await collection.get('a')).toEqual({ id: 'a', owner: 'x', size: 2 });
    expect(await collection.get('b')).toBeUndefined();
  });

  it('adds to numbers, from 0 where there is none', async () => {
    const collection = await fill();
    expect(await collection.add('a', { size: 2 })).toMatchObject({ size: 3 });
    expect(await collection.add('a', { size: undefined } as object)).toMatchObject({ size: 3 });
    await collection.insert({ id: 'b', owner: 'y' });
    expect(await collection.add('b', { size: 2 })).toMatchObject({ size: 2 });
    await expect(collection.add('a', { other: 1 } as object)).rejects.toThrow(
      'other is not a column of items',
    );
  });

  it('has no effect without a record that its guard allows', async () => {
    const collection = await fill();
    for (const guard of [{ owner: 'y' }, { size: { gt: 1 } }]) {
      expect(await collection.get('a', guard)).toBeUndefined();
      expect(await collection.update('a', { size: 5 }, guard)).toBeUndefined();
      expect(await collection.add('a', { size: 5 }, guard)).toBeUndefined();
      expect(await collection.take('a', guard)).toBeUndefined();
    }
    expect(await collection.update('none', { size: 5 })).toBeUndefined();
    expect(await collection.add('none', { size: 5 })).toBeUndefined();
    expect(await collection.take('none')).toBeUndefined();
    expect(await collection.get('a', { owner: 'x', size: { gte: 1 } })).toMatchObject({ size: 1 });
    expect(await collection.take('a', { owner: 'x' })).toMatchObject({ size: 1 });
    expect(await collection.count({})).toBe(0);
  });
});

describe('a list of records', () => {
  const fill = async (count: number) => {
    const collection = create();
    for (let at = 0; at < count; at += 1) {
      await collection.insert({ id: String(at).padStart(4, '0'), owner: `${at}`, size: at % 2 });
    }
    return collection;
  };

  it('is sorted by id, and has at most 1,000 of them', async () => {
    const collection = await fill(1002);
    const found = await collection.find({});
    expect(found.map(({ id }) => id)).toEqual(
      Array.from({ length: 1000 }, (_, at) => String(at).padStart(4, '0')),
    );
    expect(await collection.find({}, { limit: 1000, offset: 2 })).toHaveLength(1000);
    const rest = await collection.find({}, { after: { value: '0999', id: '0999' } });
    expect(rest.map(({ id }) => id)).toEqual(['1000', '1001']);
    expect(await collection.removeWhere?.({})).toBe(1000);
    expect((await collection.find({})).map(({ id }) => id)).toEqual(['1000', '1001']);
  });

  it('removes those that match, oldest first', async () => {
    const collection = await fill(6);
    expect(await collection.removeWhere?.({ size: 1 }, { limit: 2 })).toBe(2);
    expect((await collection.find({})).map(({ id }) => id)).toEqual(['0000', '0002', '0004', '0005']);
    expect(await collection.count({ size: 1 })).toBe(1);
  });

  it.each([0, 1001, 1.5, -1])('has no limit of %d', async (limit) => {
    const collection = await fill(1);
    const error = `a limit of ${limit} is not within 1..1000`;
    await expect(collection.find({}, { limit })).rejects.toThrow(new RangeError(error));
    await expect(collection.removeWhere?.({}, { limit })).rejects.toThrow(error);
    expect(await collection.find({}, { limit: 1 })).toHaveLength(1);
  });

  it('has conditions and an order of columns only', async () => {
    const collection = await fill(1);
    const note = { note: 'x' } as object;
    const message = 'note is not a column of items';
    await expect(collection.find(note)).rejects.toThrow(message);
    await expect(collection.count(note)).rejects.toThrow(message);
    await expect(collection.get('0000', note)).rejects.toThrow(message);
    const order = { field: 'note' as 'size', direction: 'asc' } as const;
    await expect(collection.find({}, { order })).rejects.toThrow(message);
  });
});

it('does nothing in calls that are aborted', async () => {
  const collection = create();
  await collection.insert({ id: 'a', owner: 'x', size: 1 });
  const options = { signal: AbortSignal.abort(new Error('left')) };
  const calls = [
    collection.get('a', undefined, options),
    collection.find({}, options),
    collection.count({}, options),
    collection.insert({ id: 'b', owner: 'y' }, options),
    collection.update('a', { size: 2 }, undefined, options),
    collection.add('a', { size: 1 }, undefined, options),
    collection.take('a', undefined, options),
    collection.removeWhere?.({}, options),
    collection.getWithMatch?.('a', { field: 'owner', collection: items, filter: {} }, options),
  ];
  for (const call of calls) await expect(call).rejects.toThrow('left');
  expect(await collection.find({})).toEqual([{ id: 'a', owner: 'x', size: 1 }]);
});
