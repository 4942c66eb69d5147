import { describe, expect, it } from 'vitest';
import { item, items, openItems } from '../../test/items.ts';
import type { Store } from '../ports/store.ts';

describe('the end of a transaction', () => {
  it('writes nothing after a failure', async () => {
    const { store, collection } = await openItems([item('a', 1)]);
    for (const fail of [
      () => Promise.reject(new Error('odd')),
      () => {
        throw new Error('odd');
      },
    ]) {
      const failing = store.transaction((inside) => {
        const added = inside.collection(items).insert(item('b'));
        return added.then(fail);
      });
      await expect(failing).rejects.toThrow('odd');
    }
    const thrown = store.transaction(() => {
      throw new Error('at once');
    });
    await expect(thrown).rejects.toThrow('at once');
    expect(await collection.find({})).toEqual([item('a', 1)]);
  });

  it('writes nothing if it was aborted, before or meanwhile', async () => {
    const { store, collection } = await openItems();
    const leaving = new AbortController();
    let tries = 0;
    const work = async (inside: Store) => {
      tries += 1;
      await inside.collection(items).insert(item('b'));
      leaving.abort(new Error('left'));
    };
    await expect(store.transaction(work, { signal: leaving.signal })).rejects.toThrow('left');
    await expect(store.transaction(work, { signal: leaving.signal })).rejects.toThrow('left');
    expect([tries, await collection.count({})]).toEqual([1, 0]);
  });

  it('ends the use of its collections', async () => {
    const { store } = await openItems([item('a', 1)]);
    let kept = store.collection(items);
    let whole = store;
    await store.transaction(async (inside) => {
      whole = inside;
      kept = inside.collection(items);
      await expect(inside.transaction(async () => undefined)).rejects.toThrow('transactions do not nest');
      // The same view of the records for each collection.
      await kept.insert(item('b'));
      expect(await inside.collection(items).get('b')).toEqual(item('b'));
    });
    const over = 'the transaction is over';
    expect(() => whole.collection(items)).toThrow(over);
    await expect(kept.get('a')).rejects.toThrow(over);
    await expect(kept.find({})).rejects.toThrow(over);
    await expect(kept.count({})).rejects.toThrow(over);
    await expect(kept.insert(item('c'))).rejects.toThrow(over);
    await expect(kept.take('a')).rejects.toThrow(over);
    expect(await store.collection(items).count({})).toBe(2);
  });
});
