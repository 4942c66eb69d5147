import { createMemoryStore } from '../src/memory/store.ts';
import { defineCollection, type StoredRecord } from '../src/ports/store.ts';

export interface Item extends StoredRecord {
  readonly owner: string;
  readonly size: number;
  readonly code?: string;
}

const define = (name: string) =>
  defineCollection<Item>({
    name,
    secretFields: { owner: false, code: false },
    columns: { owner: 'text', size: 'integer', code: 'text' },
    unique: [['code']],
    indexes: [['owner', 'size']],
  });

export const items = define('items');
export const others = define('others');

export const item = (id: string, size = 0, code?: string): Item => ({
  ...{ id, owner: 'x', size },
  ...(code !== undefined && { code }),
});

/** A store in memory with some items. */
export async function openItems(all: readonly Item[] = []) {
  const store = createMemoryStore();
  const collection = store.collection(items);
  for (const one of all) await collection.insert(one);
  return { store, collection };
}
