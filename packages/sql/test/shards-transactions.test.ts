import { isCrossShardWrite } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { LETTERS, letter, openShards, PAGES } from './shards-memory.ts';

/** Letters of owners on both shards. */
async function setUp() {
  const open = openShards();
  const letters = open.store.collection(LETTERS);
  for (const one of [letter('la', 'a1', 1), letter('lb', 'b1', 1)]) await letters.insert(one);
  open.calls.splice(0);
  open.places.splice(0);
  const begun = () => open.calls.filter((call) => call.endsWith('transaction'));
  return { ...open, begun };
}

describe('a transaction over several databases', () => {
  it('runs in the database to which it writes first', async () => {
    const { store, begun, isLetterIn } = await setUp();
    let runs = 0;
    const done = await store.transaction(async (inside) => {
      runs += 1;
      await inside.collection(LETTERS).insert(letter('new', 'b1'));
      return (await inside.collection(LETTERS).get('new', { ownerId: 'b1' }))?.ownerId;
    });
    expect([done, begun(), await isLetterIn('new')]).toEqual(['b1', ['b transaction'], ['b']]);
    expect(runs).toBe(3);
  });

  it('runs where it reads records of one owner, if it writes nothing', async () => {
    const { store, begun, calls } = await setUp();
    const found = await store.transaction((inside) => inside.collection(LETTERS).find({ ownerId: 'a1' }));
    expect(found).toEqual([letter('la', 'a1', 1)]);
    expect(begun()).toEqual(['a transaction']);
    expect(calls.at(-1)).toBe('a inside find letters');
  });

  it('reads what may be anywhere without a transaction', async () => {
    const { store, begun } = await setUp();
    expect(await store.transaction((inside) => inside.collection(LETTERS).count({}))).toBe(2);
    expect(await store.transaction((inside) => inside.collection(LETTERS).find({}))).toHaveLength(2);
    expect(begun()).toEqual([]);
  });

  it.each<[string, string, object | undefined, string]>([
    ['it finds a record', 'lb', undefined, 'b'],
    ['a record would be', 'none', { ownerId: 'a1' }, 'a'],
    ['it finds a record that is likely elsewhere', 'lb', { anyOf: [{ ownerId: 'a1' }, { size: 1 }] }, 'b'],
  ])('runs where %s', async (_, id, guard, name) => {
    const { store, begun } = await setUp();
    // Another process knows no place yet.
    const fresh = openShards();
    for (const one of [letter('la', 'a1', 1), letter('lb', 'b1', 1)]) {
      await fresh.nodes[one.id === 'la' ? 'a' : 'b'].plain.collection(LETTERS).insert(one);
    }
    await fresh.store.collection(LETTERS).insert(letter('known', 'a1'));
    fresh.calls.splice(0);
    await fresh.store.transaction((inside) => inside.collection(LETTERS).get(id, guard as never));
    expect(fresh.calls.filter((call) => call.endsWith('transaction'))).toEqual([`${name} transaction`]);
    await store.transaction((inside) => inside.collection(LETTERS).get('la'));
    expect(begun()).toEqual(['a transaction']);
  });

  it('reads records of other databases as they are', async () => {
    const { store, begun, calls } = await setUp();
    const sizes = await store.transaction(async (inside) => {
      const letters = inside.collection(LETTERS);
      await letters.update('lb', { size: 5 }, { ownerId: 'b1' });
      return (await letters.find({})).map(({ size }) => size);
    });
    expect([sizes, begun()]).toEqual([[1, 5], ['b transaction']]);
    expect(calls.slice(-3)).toEqual(['a find letters', 'b inside find letters', 'home find letters']);
  });

  it('begins again where it writes, if it has only read elsewhere', async () => {
    const { store, begun, isLetterIn } = await setUp();
    await store.transaction(async (inside) => {
      const letters = inside.collection(LETTERS);
      await letters.get('la', { ownerId: 'a1' });
      await letters.insert(letter('new', 'b1'));
    });
    // The second attempt learns the shard of the other owner.
    expect(begun()).toEqual(['a transaction', 'a transaction', 'b transaction']);
    expect(await isLetterIn('new')).toEqual(['b']);
  });

  it('is refused with writes to two databases, and changes nothing', async () => {
    const { store, isLetterIn } = await setUp();
    const failed = store.transaction(async (inside) => {
      const letters = inside.collection(LETTERS);
      await letters.insert(letter('first', 'a1'));
      await letters.insert(letter('second', 'b1'));
    });
    await expect(failed).rejects.toSatisfy(isCrossShardWrite);
    await expect(failed).rejects.toThrow('not to a and b in one transaction');
    expect([await isLetterIn('first'), await isLetterIn('second')]).toEqual([[], []]);
  });

  it('begins again although its work ignores errors', async () => {
    const { store, isLetterIn } = await setUp();
    const errors: unknown[] = [];
    const done = await store.transaction(async (inside) => {
      const letters = inside.collection(LETTERS);
      for (const id of ['first', 'second']) {
        await letters.insert(letter(id, 'b2')).catch((error: unknown) => errors.push(error));
      }
      return 'done';
    });
    expect(done).toBe('done');
    expect([await isLetterIn('first'), await isLetterIn('second')]).toEqual([['b'], ['b']]);
    const [first] = errors;
    expect(String(first)).toContain('the transaction starts again');
  });

  it('begins again in another database although its work ignores errors', async () => {
    const { store, isLetterIn, begun } = await setUp();
    await store.transaction(async (inside) => {
      const letters = inside.collection(LETTERS);
      await letters.get('la', { ownerId: 'a1' }).catch(() => undefined);
      await letters.insert(letter('new', 'b1')).catch(() => undefined);
      await letters.get('la', { ownerId: 'a1' }).catch(() => undefined);
    });
    expect([begun().at(-1), await isLetterIn('new')]).toEqual(['b transaction', ['b']]);
  });

  it('does nothing more after it has to begin again', async () => {
    const { store, isLetterIn } = await setUp();
    const errors: unknown[] = [];
    const ignore = (call: Promise<unknown>) => call.catch((error: unknown) => errors.push(error));
    await store.transaction(async (inside) => {
      const letters = inside.collection(LETTERS);
      await ignore(letters.insert(letter('new', 'b2')));
      await ignore(letters.find({}));
    });
    // It learns the shard of the owner, then that it writes there.
    expect([errors.length, await isLetterIn('new')]).toEqual([4, ['b']]);
    errors.splice(0);
    await store
      .transaction(async (inside) => {
        const letters = inside.collection(LETTERS);
        await letters.get('la', { ownerId: 'a1' });
        await ignore(letters.insert(letter('other', 'b2')));
        await ignore(letters.find({}));
        await ignore(letters.take('la', { ownerId: 'a1' }));
      })
      .catch((error: unknown) => errors.push(String(error)));
    expect(errors.length).toBeGreaterThan(5);
    expect(await isLetterIn('la')).toEqual(['a']);
  });

  it('begins again although its work fails for another reason then', async () => {
    const { store, isLetterIn } = await setUp();
    await store.transaction((inside) =>
      inside
        .collection(LETTERS)
        .insert(letter('new', 'b2'))
        .catch(() => {
          throw new Error('another reason');
        }),
    );
    expect(await isLetterIn('new')).toEqual(['b']);
  });

  it('forgets the places of an attempt that its database repeats', async () => {
    const open = openShards({}, ({ store: inner }) => ({
      store: {
        ...inner,
        async transaction(work, options) {
          await inner
            .transaction(async (inside) => {
              await work(inside);
              throw new Error('a conflict');
            }, options)
            .catch(() => undefined);
          return inner.transaction(work, options);
        },
      },
    }));
    let attempts = 0;
    await open.store.transaction(async (inside) => {
      const letters = inside.collection(LETTERS);
      await letters.count({ ownerId: 'b1' });
      attempts += 1;
      await letters.insert(letter(`letter ${attempts}`, 'b1'));
    });
    const firsts: (string | undefined)[] = [];
    for (let at = 1; at <= attempts; at += 1) {
      open.calls.splice(0);
      await open.store.collection(LETTERS).get(`letter ${at}`);
      firsts.push(open.calls[0]);
    }
    // Only the last one is asked for where it was written.
    expect(firsts.pop()).toBe('b get letters');
    expect(new Set(firsts)).toEqual(new Set(['a get letters']));
  });

  it('has records without an owner where it writes, and at home otherwise', async () => {
    const { store, isPageIn, begun } = await setUp();
    await store.transaction(async (inside) => {
      expect(await inside.collection(PAGES).insert({ id: 'p1', title: 't' })).toBe(true);
      await inside.collection(LETTERS).insert(letter('new', 'b1'));
    });
    expect(await isPageIn('p1')).toEqual(['b']);
    await store.transaction((inside) => inside.collection(PAGES).insert({ id: 'p2', title: 't' }));
    expect(await isPageIn('p2')).toEqual(['home']);
    expect(begun()).toEqual(['b transaction', 'home transaction']);
    await store.collection(PAGES).insert({ id: 'p3', title: 't' });
    expect(await isPageIn('p3')).toEqual(['home']);
  });

  it('fails with the error of its work, and without a transaction if it has touched nothing', async () => {
    const { store, begun, isPageIn } = await setUp();
    const failure = new Error('own');
    await expect(store.transaction(() => Promise.reject(failure))).rejects.toBe(failure);
    expect(begun()).toEqual([]);
    const failed = store.transaction(async (inside) => {
      await inside.collection(PAGES).insert({ id: 'p', title: 't' });
      throw failure;
    });
    await expect(failed).rejects.toBe(failure);
    expect([begun(), await isPageIn('p')]).toEqual([['home transaction'], []]);
  });

  it('passes if its work fails only without its own writes', async () => {
    const { store, isPageIn } = await setUp();
    const title = await store.transaction(async (inside) => {
      const pages = inside.collection(PAGES);
      await pages.insert({ id: 'p', title: 't' });
      const page = await pages.get('p');
      if (page === undefined) throw new Error('the page is missing');
      return page.title;
    });
    expect([title, await isPageIn('p')]).toEqual(['t', ['home']]);
  });

  it('remembers the places of its records once it is committed', async () => {
    const { store, calls } = await setUp();
    const insert = (id: string, fails: boolean) =>
      store.transaction(async (inside) => {
        await inside.collection(LETTERS).insert(letter(id, 'b1'));
        if (fails) throw new Error('rolled back');
      });
    await insert('kept', false);
    await expect(insert('lost', true)).rejects.toThrow('rolled back');
    const ask = async (id: string) => {
      calls.splice(0);
      await store.collection(LETTERS).get(id);
      return calls.splice(0);
    };
    expect(await ask('kept')).toEqual(['b get letters']);
    expect(await ask('lost')).toEqual(['a get letters', 'b get letters', 'home get letters']);
  });

  it('learns the shards of owners between its attempts, each once', async () => {
    const { store, places, isLetterIn } = await setUp();
    await store.transaction(async (inside) => {
      const letters = inside.collection(LETTERS);
      await letters.find({ ownerId: 'b9' });
      await letters.insert(letter('new', 'a9'));
      await letters.find({ ownerId: 'b9' });
    });
    expect(places).toEqual(['find b9', 'place a9']);
    expect(await isLetterIn('new')).toEqual(['a']);
  });

  it('gives up when it never finds a shard', async () => {
    const { store, places } = await setUp();
    let at = 0;
    const failed = store.transaction(async (inside) => {
      at += 1;
      await inside.collection(LETTERS).find({ ownerId: `a new ${at}` });
    });
    await expect(failed).rejects.toThrow('a transaction found no shard');
    expect(places).toHaveLength(1000);
  });

  it('does not nest', async () => {
    const { store } = await setUp();
    const nested = store.transaction((inside) => inside.transaction(async () => 1));
    await expect(nested).rejects.toThrow('transactions do not nest');
  });
});
