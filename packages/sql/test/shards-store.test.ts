import { createMemoryPorts } from '@questline/core/memory';
import { isCrossShardWrite, type StoreWrite, writesTo } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { shard } from '../src/index.ts';
import { SHARD_MOVES } from '../src/shards/moves.ts';
import { LETTERS, letter, named, openShards, PAGES } from './shards-memory.ts';

const toLetters = writesTo(LETTERS);
const toPages = writesTo(PAGES);

/** Letters of two owners on both shards, which a process has not seen yet. */
async function setUp(options: Parameters<typeof openShards>[0] = {}, hasEffect = true) {
  const steps: (readonly [string, readonly string[]])[] = [];
  const open = openShards(options, ({ store }, name) => ({
    store: {
      ...store,
      async writeAll(writes) {
        steps.push([name, writes.map((write) => write.do)]);
        return store.transaction(async (inner) => {
          for (const write of writes) {
            if (write.do === 'read' || write.do === 'read-ordered') {
              write.found(await inner.collection(write.collection).find(write.filter, { limit: write.max }));
            }
            if (write.do === 'insert') await inner.collection(write.collection).insert(write.record);
          }
          return hasEffect;
        });
      },
    },
  }));
  for (const [name, owner] of [
    ['a', 'a1'],
    ['b', 'b1'],
  ] as const) {
    await open.nodes[name].plain.collection(LETTERS).insert(letter(`l${name}`, owner, 1));
    await open.nodes[name].plain.collection(PAGES).insert({ id: `p${name}`, title: name });
  }
  const letters = open.store.collection(LETTERS);
  await open.store.collection(PAGES).count({});
  open.calls.splice(0);
  const write = (...writes: readonly StoreWrite[]) => open.store.writeAll?.(writes);
  return { ...open, letters, steps, write };
}

describe('a step over several databases', () => {
  it('is made in the database of its records', async () => {
    const { write, steps, isLetterIn, isPageIn } = await setUp();
    expect(await write(toLetters.insert(letter('new', 'b1')), toPages.insert({ id: 'p', title: 't' }))).toBe(
      true,
    );
    expect(steps).toEqual([['b', ['insert', 'insert']]]);
    expect([await isLetterIn('new'), await isPageIn('p')]).toEqual([['b'], ['b']]);
    expect(await write(toPages.insert({ id: 'alone', title: 't' }))).toBe(true);
    expect(await isPageIn('alone')).toEqual(['home']);
  });

  it.each<[string, StoreWrite, string]>([
    ['by its guard', toLetters.update('lb', { size: 2 }, { ownerId: 'b1' }), 'home'],
    ['wherever it is', toLetters.update('lb', { size: 2 }), 'b'],
    ['of no owner', toPages.remove('pa'), 'a'],
    ['that is expected', toPages.expect('pb'), 'b'],
    ['nowhere', toPages.expect('none'), 'home'],
    ['of an owner', toLetters.removeWhere({ ownerId: 'a1' }, 5), 'a'],
  ])('finds the record %s: %#', async (_, one, name) => {
    const { write, steps, ports } = await setUp();
    // The directory knows the owner `a1` only.
    await ports.store.collection(LETTERS).insert(letter('known', 'a1'));
    expect(await write(one)).toBe(true);
    expect(steps).toEqual([[name, [one.do]]]);
  });

  it('has no effect on records of two databases', async () => {
    const { write, steps, isLetterIn } = await setUp();
    const insert = toLetters.insert(letter('new', 'a1'));
    expect(await write(insert, toLetters.insert(letter('other', 'b1')))).toBe(false);
    expect(await write(insert, toPages.remove('pb'))).toBe(false);
    expect(await write(insert, toLetters.removeWhere({ size: 1 }, 5))).toBe(false);
    expect([steps, await isLetterIn('new')]).toEqual([[], []]);
  });

  it('reads in its database with its writes, and in others before', async () => {
    const { write, steps, calls } = await setUp();
    const found: string[][] = [];
    const read = (filter: object, max = 5) =>
      toLetters.read(filter, max, (records) => found.push(records.map(({ id }) => id)));
    await write(toLetters.insert(letter('a0', 'a1')), toLetters.insert(letter('a2', 'a1')));
    steps.splice(0);
    const insert = toLetters.insert(letter('new', 'a1'));
    expect(
      await write(insert, read({ ownerId: 'a1' }), read({ size: 1 }), read({ id: { gte: 'a' } }, 1)),
    ).toBe(true);
    expect(steps).toEqual([['a', ['read', 'insert']]]);
    expect(found).toEqual([['a0', 'a2', 'la'], ['la', 'lb'], ['a0']]);
    expect(calls.filter((call) => call === 'b find letters')).toHaveLength(2);
    const order = { field: 'size', direction: 'desc', max: 2 } as const;
    const ordered = toLetters.readOrdered({ size: { gte: 0 } }, order, (records) =>
      found.push(records.map(({ id }) => id)),
    );
    expect(await write(insert, ordered)).toBe(true);
    expect(found.at(-1)).toEqual(['lb', 'la']);
  });

  it('asks no database for a record whose place it knows', async () => {
    const { write, steps, letters, calls } = await setUp();
    await letters.insert(letter('known', 'a1'));
    await letters.get('lb');
    calls.splice(0);
    expect(await write(toLetters.update('none', { size: 2 }, { ownerId: 'a1' }))).toBe(true);
    expect(await write(toLetters.update('lb', { size: 2 }))).toBe(true);
    expect(calls.filter((call) => call.includes('get letters'))).toEqual([]);
    expect(steps.map(([name]) => name)).toEqual(['a', 'b']);
  });

  it('looks for a record where it is likely, and then elsewhere', async () => {
    const { write, steps, letters } = await setUp();
    await letters.insert(letter('known', 'a1'));
    const guard = { anyOf: [{ ownerId: 'a1' }, { size: 1 }] };
    expect(await write(toLetters.update('lb', { size: 2 }, guard))).toBe(true);
    expect(steps).toEqual([['b', ['update']]]);
    const other = await setUp();
    await other.letters.insert(letter('known', 'a1'));
    expect(await other.letters.update('lb', { size: 2 }, guard)).toMatchObject({ size: 2 });
  });

  it('has a record with its parent, which a later write or an earlier one names', async () => {
    const [sessions, quests] = [named('sessions'), named('quests')];
    const quest = { ...letter('q', 'a1'), sessionId: 's' };
    const found = await setUp();
    await found.nodes.b.plain.collection(sessions).insert(letter('s', 'b1'));
    const [toSessions, toQuests] = [writesTo(sessions), writesTo(quests)];
    expect(await found.write(toQuests.insert(quest), toSessions.expect('s'))).toBe(true);
    const made = await setUp();
    expect(await made.write(toSessions.insert(letter('s', 'b1')), toQuests.insert(quest))).toBe(true);
    const known = await setUp();
    await known.nodes.b.plain.collection(sessions).insert(letter('s', 'b1'));
    known.store.collection(sessions);
    await known.store.collection(quests).insert(quest);
    expect(await known.nodes.b.plain.collection(quests).get('q')).toEqual(quest);
    expect([found, made].map(({ steps }) => steps.map(([name]) => name))).toEqual([['b'], ['b']]);
  });

  it('reads in another database what only that has', async () => {
    const { write, letters } = await setUp();
    await letters.insert(letter('known', 'b1'));
    const found: string[][] = [];
    const read = toLetters.read({ ownerId: 'b1' }, 5, (records) => found.push(records.map(({ id }) => id)));
    expect(await write(toLetters.insert(letter('new', 'a1')), read)).toBe(true);
    expect(found).toEqual([['known', 'lb']]);
  });

  it('keeps nothing of what its database refuses', async () => {
    const { write, letters, calls, nodes } = await setUp({}, false);
    const found: unknown[] = [];
    const read = toLetters.read({ size: 1 }, 5, (records) => found.push(records));
    expect(await write(toLetters.insert(letter('new', 'a1')), read)).toBe(false);
    expect(found).toEqual([]);
    await nodes.a.plain.collection(LETTERS).take('new');
    calls.splice(0);
    await letters.get('new');
    expect(calls).toHaveLength(3);
  });

  it('gives nothing that it has read without an effect', async () => {
    const { write } = await setUp();
    const found: unknown[] = [];
    const read = toLetters.read({ size: 1 }, 5, (records) => found.push(records));
    expect(await write(read, toLetters.insert(letter('x', 'a1')), toLetters.insert(letter('y', 'b1')))).toBe(
      false,
    );
    expect(found).toEqual([]);
  });

  it('passes on the writes of another engine, at home', async () => {
    const { write, steps } = await setUp();
    const engine: StoreWrite = { do: 'engine', engine: {}, work: undefined, applied: () => undefined };
    expect(await write(engine)).toBe(true);
    expect(await write(engine, toLetters.insert(letter('new', 'b1')))).toBe(true);
    expect(steps).toEqual([
      ['home', ['engine']],
      ['b', ['engine', 'insert']],
    ]);
  });

  it('remembers the places of its records once it has an effect', async () => {
    const { write, letters, calls, store } = await setUp();
    const ask = async (id: string) => {
      calls.splice(0);
      await letters.get(id);
      return calls.splice(0);
    };
    await write(toLetters.insert(letter('x', 'a1')), toLetters.insert(letter('y', 'b1')));
    expect(await ask('x')).toEqual(['a get letters', 'b get letters', 'home get letters']);
    await write(toLetters.insert(letter('z', 'b1')), toPages.insert({ id: 'p', title: 't' }));
    expect(await ask('z')).toEqual(['b get letters']);
    await store.collection(PAGES).get('p');
    expect(calls).toEqual(['b get pages']);
  });
});

describe('a collection over several databases', () => {
  it('asks the database where it saw a record, then the others', async () => {
    const { letters, calls, nodes } = await setUp();
    expect((await letters.get('lb'))?.ownerId).toBe('b1');
    expect(calls.splice(0)).toEqual(['a get letters', 'b get letters', 'home get letters']);
    await letters.get('lb');
    expect(calls.splice(0)).toEqual(['b get letters']);
    await nodes.b.plain.collection(LETTERS).take('lb');
    await nodes.a.plain.collection(LETTERS).insert(letter('lb', 'a1'));
    expect((await letters.get('lb'))?.ownerId).toBe('a1');
    expect(calls.splice(0)).toEqual(['b get letters', 'a get letters', 'home get letters']);
    await letters.find({ ownerId: 'a1' });
    await letters.get('none');
    expect(calls.splice(0).slice(1)).toEqual(['a get letters', 'b get letters', 'home get letters']);
  });

  it('remembers the records of its lists, and those that it has changed', async () => {
    const { letters, calls } = await setUp();
    await letters.find({});
    calls.splice(0);
    for (const id of ['la', 'lb']) await letters.get(id);
    expect(calls.splice(0)).toEqual(['a get letters', 'b get letters']);
    const other = await setUp();
    await other.letters.insert(letter('known', 'b1'));
    expect(await other.letters.update('lb', { size: 3 }, { ownerId: 'b1' })).toMatchObject({ size: 3 });
    other.calls.splice(0);
    await other.letters.get('lb');
    expect(other.calls).toEqual(['b get letters']);
  });

  it('changes records where they are', async () => {
    const { letters, isLetterIn } = await setUp();
    expect(await letters.update('lb', { size: 4 })).toMatchObject({ size: 4 });
    expect(await letters.add('lb', { size: 2 }, { size: 4 })).toMatchObject({ size: 6 });
    expect(await letters.add('lb', { size: 2 }, { size: 4 })).toBeUndefined();
    expect(await letters.take('none')).toBeUndefined();
    expect(await letters.take('lb', { size: 6 })).toMatchObject({ id: 'lb' });
    expect(await isLetterIn('lb')).toEqual([]);
    expect(await letters.insert(letter('lb', 'a1'))).toBe(true);
    expect(await letters.insert(letter('lb', 'a1'))).toBe(false);
  });

  it('asks and writes once where the owner is', async () => {
    const { letters, calls } = await setUp();
    await letters.insert(letter('known', 'a1'));
    calls.splice(0);
    await letters.update('known', { size: 4 }, { ownerId: 'a1' });
    await letters.removeWhere?.({ ownerId: 'a1', size: 9 });
    expect(calls.filter((call) => /get|find/.test(call) && call.endsWith('letters'))).toEqual([]);
    await letters.count({});
    expect(calls.filter((call) => call.endsWith('find letters'))).toEqual([]);
  });

  it('counts a record once while its owner moves', async () => {
    const { letters, nodes, clock } = await setUp();
    await nodes.b.plain.collection(LETTERS).insert(letter('la', 'a1', 1));
    expect(await letters.count({})).toBe(3);
    const moves = nodes.home.plain.collection(SHARD_MOVES);
    await moves.insert({ id: 'a1', source: 'a', target: 'b', phase: 'draining' });
    await clock.advance(2000);
    expect(await letters.count({})).toBe(2);
  });

  it('keeps a record with its owner', async () => {
    const { letters } = await setUp();
    await letters.insert(letter('known', 'a1'));
    const moved = letters.update('la', { ownerId: 'b1' });
    await expect(moved).rejects.toSatisfy(isCrossShardWrite);
    await expect(moved).rejects.toThrow('a record of letters does not change to an owner of another shard');
    expect(await letters.update('la', { ownerId: 'a2' })).toMatchObject({ ownerId: 'a2' });
    expect(await letters.update('la', { ownerId: 'a2', size: 7 })).toMatchObject({ size: 7 });
    expect(await letters.update('none', { ownerId: 'b1' })).toBeUndefined();
    expect(await letters.update('la', { ownerId: 'b1' }, { size: 0 })).toBeUndefined();
  });

  it('inserts an id of another database only if it is not checked', async () => {
    const unchecked = await setUp();
    expect(await unchecked.letters.insert(letter('lb', 'a1'))).toBe(true);
    expect(await unchecked.isLetterIn('lb')).toEqual(['a', 'b']);
    const checked = await setUp({ checksIds: true });
    expect(await checked.letters.insert(letter('lb', 'a1'))).toBe(false);
    expect(await checked.letters.insert(letter('new', 'a1'))).toBe(true);
    expect(await checked.isLetterIn('lb')).toEqual(['b']);
    const { store } = checked;
    const inside = (id: string) =>
      store.transaction((inner) => inner.collection(LETTERS).insert(letter(id, 'a1')));
    expect([await inside('lb'), await inside('newer')]).toEqual([false, true]);
  });

  it('deletes matching records of every database, up to a limit', async () => {
    const { letters, nodes, calls } = await setUp();
    const { a, b } = nodes;
    for (const at of [1, 2, 3]) {
      await a.plain.collection(LETTERS).insert(letter(`a${at}`, 'a1', 2));
      await b.plain.collection(LETTERS).insert(letter(`b${at}`, 'b1', 2));
    }
    const count = () => Promise.all([a, b].map(({ plain }) => plain.collection(LETTERS).count({ size: 2 })));
    expect(await letters.removeWhere?.({ size: 2 }, { limit: 2 })).toBe(2);
    expect(await count()).toEqual([1, 3]);
    expect(await letters.removeWhere?.({ size: 2 }, { limit: 3 })).toBe(3);
    expect(await count()).toEqual([0, 1]);
    calls.splice(0);
    expect(await letters.removeWhere?.({ size: 2 }, { limit: 1 })).toBe(1);
    expect(calls.filter((call) => call.startsWith('home'))).toEqual([]);
    expect(await letters.removeWhere?.({ size: 2 })).toBe(0);
    await expect(letters.removeWhere?.({ size: 1 }, { limit: 0 })).rejects.toThrow();
    expect(await letters.removeWhere?.({ size: 1 })).toBe(2);
  });
});

describe('two databases, one of which is the home database', () => {
  const open = async () => {
    const [a, b] = [createMemoryPorts(), createMemoryPorts()];
    const directory = { find: async () => 'a', place: async () => 'a' };
    const { store } = shard({ home: a, shards: { a, b }, directory });
    await b.store.collection(LETTERS).insert(letter('lb', 'b1', 1));
    return { store, letters: store.collection(LETTERS), b };
  };

  it('have no effect on records of both in one step', async () => {
    const { store } = await open();
    const removed = store.writeAll?.([
      toLetters.removeWhere({ size: 1 }, 5),
      toLetters.insert(letter('x', 'a1')),
    ]);
    expect(await removed).toBe(false);
  });

  it('are both asked for a record, and one of them deletes in a transaction', async () => {
    const { store, letters, b } = await open();
    expect(await letters.get('lb')).toEqual(letter('lb', 'b1', 1));
    const removed = await store.transaction(async (inside) =>
      inside.collection(LETTERS).removeWhere?.({ size: 1 }),
    );
    expect([removed, await b.store.collection(LETTERS).count({})]).toEqual([1, 0]);
  });
});
