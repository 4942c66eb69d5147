import { describe, expect, it } from 'vitest';
import { item, items, openItems, others } from '../../test/items.ts';
import type { Store } from '../ports/store.ts';

/** Runs a transaction during whose first try something else happens. @returns the number of tries, and its result. */
async function meanwhile<T>(
  store: Store,
  happen: () => Promise<unknown>,
  work: (inside: Store) => Promise<T>,
): Promise<{ tries: number; result: T }> {
  let tries = 0;
  const result = await store.transaction(async (inside) => {
    tries += 1;
    const found = await work(inside);
    if (tries === 1) await happen();
    return found;
  });
  return { tries, result };
}

describe('a transaction runs again', () => {
  const all = [item('a', 1), item('b', 2), item('c', 3, 'taken')];

  it.each<[string, (inside: Store) => Promise<unknown>]>([
    ['a record that it read was changed', (inside: Store) => inside.collection(items).get('a')],
    ['a list that it read was changed', (inside: Store) => inside.collection(items).find({ owner: 'x' })],
    [
      'the number of a list was changed',
      (inside: Store) => inside.collection(items).count({ size: { gte: 1 } }),
    ],
  ])('if %s', async (_, work) => {
    const { store, collection } = await openItems(all);
    const first = await meanwhile(store, () => collection.update('a', { size: 0 }), work);
    expect(first.tries).toBe(2);
    const removal = () => Promise.all([collection.take('a'), collection.take('b')]);
    const second = await meanwhile(store, removal, work);
    expect(second.tries).toBe(2);
    const third = await meanwhile(store, () => store.collection(others).insert(item('a')), work);
    expect(third.tries).toBe(1);
  });

  it('if one of the lists that it read was changed', async () => {
    const { store, collection } = await openItems(all);
    const { tries } = await meanwhile(
      store,
      () => collection.update('a', { size: 5 }),
      async (inside) => {
        await inside.collection(items).find({ size: { lt: 3 } });
        await inside.collection(items).find({ size: { gt: 9 } });
      },
    );
    expect(tries).toBe(2);
  });

  it('if a unique value that it looked for was given back', async () => {
    const { store, collection } = await openItems(all);
    const { tries, result } = await meanwhile(
      store,
      () => collection.take('c'),
      (inside) => inside.collection(items).insert(item('d', 0, 'taken')),
    );
    expect([tries, result]).toEqual([2, true]);
    expect(await collection.find({ code: 'taken' })).toMatchObject([{ id: 'd' }]);
  });

  it('if a record that it wrote was changed, and writes nothing else', async () => {
    const { store, collection } = await openItems(all);
    const { tries } = await meanwhile(
      store,
      () => collection.add('a', { size: 10 }),
      async (inside) => {
        await inside.collection(others).insert(item('once'));
        return inside.collection(items).add('a', { size: 1 });
      },
    );
    expect(tries).toBe(2);
    expect(await collection.get('a')).toMatchObject({ size: 12 });
    expect(await store.collection(others).count({})).toBe(1);
  });

  it('if it failed after it read what was changed', async () => {
    const { store, collection } = await openItems(all);
    let tries = 0;
    const failing = store.transaction(async (inside) => {
      tries += 1;
      const found = await inside.collection(items).get('a');
      if (tries === 1) await collection.update('a', { size: 5 });
      throw new Error(`size ${found?.size}`);
    });
    await expect(failing).rejects.toThrow('size 5');
    expect(tries).toBe(2);
  });

  it('not if what it read has only been looked at', async () => {
    const { store, collection } = await openItems(all);
    const look = async () => {
      await collection.insert(item('elsewhere', 9));
      await collection.find({});
    };
    const work = (inside: Store) => inside.collection(items).find({ size: { lt: 3 } });
    expect((await meanwhile(store, look, work)).tries).toBe(1);
  });
});

describe('within a transaction', () => {
  it('lists contain what it wrote, in their order', async () => {
    const { store, collection } = await openItems([1, 3, 5, 7].map((size) => item(`${size}`, size)));
    await store.transaction(async (inside) => {
      const mine = inside.collection(items);
      await mine.insert(item('2', 2));
      await mine.insert(item('6', 6));
      await mine.take('3');
      await mine.update('7', { size: 0 });
      const list = async (options: Parameters<typeof mine.find>[1]) =>
        (await mine.find({ owner: 'x' }, options)).map(({ id }) => id);
      const order = { field: 'size', direction: 'asc' } as const;
      expect(await list({ order })).toEqual(['7', '1', '2', '5', '6']);
      expect(await list({ order, offset: 1, limit: 2 })).toEqual(['1', '2']);
      expect(await list({ order, after: { value: 2, id: '2' } })).toEqual(['5', '6']);
      expect(await list({ order: { ...order, direction: 'desc' }, limit: 2 })).toEqual(['6', '5']);
      expect(await mine.count({ size: { gte: 2 } })).toBe(3);
      expect(await mine.count({ size: { lt: 2 } })).toBe(2);
      expect(await mine.find({ size: 3 })).toEqual([]);
    });
    expect(await collection.count({})).toBe(5);
  });

  it('lists contain what it has only read', async () => {
    const { store } = await openItems([item('a', 1), item('b', 2)]);
    await store.transaction(async (inside) => {
      const mine = inside.collection(items);
      await mine.get('a');
      expect(await mine.find({}, { offset: 1, limit: 1 })).toMatchObject([{ id: 'b' }]);
      await mine.update('b', { size: 3 });
      expect(await mine.find({})).toMatchObject([{ id: 'a' }, { id: 'b', size: 3 }]);
      expect(await mine.count({})).toBe(2);
    });
  });

  it('records are found among many', async () => {
    const { store, collection } = await openItems();
    const ids = Array.from({ length: 12 }, (_, at) => `${10 + at}`);
    await store.transaction(async (inside) => {
      const mine = inside.collection(items);
      for (const id of ids) await mine.insert(item(id, 1));
      for (const id of ids) expect(await mine.add(id, { size: 1 })).toMatchObject({ id, size: 2 });
      for (const id of ids) expect(await mine.insert(item(id))).toBe(false);
    });
    expect(await collection.find({ size: 2 })).toHaveLength(12);
  });

  it('unique values are those that it wrote', async () => {
    const { store, collection } = await openItems([item('a', 0, '1'), item('b', 0, '2')]);
    await store.transaction(async (inside) => {
      const mine = inside.collection(items);
      expect(await mine.insert(item('c', 0, '1'))).toBe(false);
      await mine.update('a', { code: '3' });
      expect(await mine.insert(item('c', 0, '1'))).toBe(true);
      expect(await mine.insert(item('d', 0, '1'))).toBe(false);
      expect(await mine.insert(item('d', 0, '3'))).toBe(false);
      expect(await mine.update('c', { size: 4 })).toMatchObject({ size: 4 });
      await mine.take('b');
      expect(await mine.insert(item('d', 0, '2'))).toBe(true);
    });
    expect((await collection.find({})).map(({ id, code }) => [id, code])).toEqual([
      ['a', '3'],
      ['c', '1'],
      ['d', '2'],
    ]);
  });

  it('records exchange unique values', async () => {
    const { store, collection } = await openItems([item('a', 0, '1'), item('b', 0, '2')]);
    await store.transaction(async (inside) => {
      const mine = inside.collection(items);
      await mine.update('a', { code: '0' });
      await mine.update('b', { code: '1' });
      await mine.update('a', { code: '2' });
    });
    expect(await collection.insert(item('c', 0, '1'))).toBe(false);
    expect(await collection.insert(item('c', 0, '2'))).toBe(false);
    expect(await collection.find({ code: '1' })).toMatchObject([{ id: 'b' }]);
    expect(await collection.find({ code: '2' })).toMatchObject([{ id: 'a' }]);
  });
});
