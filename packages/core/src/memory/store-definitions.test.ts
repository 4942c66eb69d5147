import { describe, expect, it } from 'vitest';
import { item, items } from '../../test/items.ts';
import { createMemoryStore } from './store.ts';

describe('definition of a collection', () => {
  it('is the only one of its name', () => {
    const store = createMemoryStore();
    store.collection(items);
    expect(() => store.collection({ ...items, unique: [] })).toThrow(
      new TypeError(`there are two definitions of ${items.name}`),
    );
    expect(() => store.collection({ ...items })).not.toThrow();
    expect(() => store.collection({ ...items, name: 'more' })).not.toThrow();
  });

  it('has the records of its copies', async () => {
    const store = createMemoryStore();
    await store.collection(items).insert(item('a', 1));
    expect(await store.collection({ ...items }).get('a')).toEqual(item('a', 1));
  });
});
