import { createMemoryPorts } from '@questline/core/memory';
import {
  type CollectionDefinition,
  defineCollection,
  isStorageUnavailable,
  type Store,
  type StoredRecord,
  type StoreWrite,
  writesTo,
} from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { ShardPorts } from '../src/index.ts';
import { guardNode } from '../src/shards/guard.ts';
import { createMoveWatch, MOVES_VERSION, SHARD_MOVES } from '../src/shards/moves.ts';

interface Letter extends StoredRecord {
  readonly ownerId: string;
  readonly size: number;
}
interface Page extends StoredRecord {
  readonly letterId: string;
}

const LETTERS = defineCollection<Letter>({
  name: 'letters',
  columns: { ownerId: 'text', size: 'integer' },
  unique: [],
  indexes: [],
});
const PAGES = defineCollection<Page>({
  name: 'pages',
  columns: { letterId: 'text' },
  unique: [],
  indexes: [],
});
const PLACEMENTS = { pages: { by: 'parent', field: 'letterId', of: ['letters'] } } as const;

const letter = (id: string, ownerId: string): Letter => ({ id, ownerId, size: 1 });
const toLetters = writesTo(LETTERS);
const toPages = writesTo(PAGES);

/** A database with a letter of `moving` and one of `other`, while the owner `moving` moves. */
async function setUp({
  phase = 'closed',
  source = 'a',
  readsMoves = true,
  change = (_: ShardPorts): Partial<ShardPorts> => ({}),
} = {}) {
  const clock = createFakeClock();
  const ports = createMemoryPorts({ clock });
  const home = createMemoryPorts({ clock }).store;
  const moves = home.collection(SHARD_MOVES);
  const noMoves = { ...moves, find: () => Promise.reject(new Error('no moves')) };
  const watched = readsMoves ? home : { ...home, collection: () => noMoves as never };
  const watch = createMoveWatch({ store: watched, clock, onChange: () => undefined });
  const begin = async () => {
    await moves.insert({ id: 'moving', source, target: 'b', phase: phase as 'closed' });
    await moves.insert({ id: MOVES_VERSION, version: 1 });
  };
  const definitions = [LETTERS, PAGES] as unknown as readonly CollectionDefinition<StoredRecord>[];
  const node = guardNode(
    { ...ports, ...change(ports), name: 'a' },
    {
      watch,
      getDefinition: (name) => definitions.find((one) => one.name === name),
      placements: PLACEMENTS,
    },
  );
  const inner = ports.store.collection(LETTERS);
  for (const owner of ['moving', 'other']) {
    await inner.insert(letter(`of ${owner}`, owner));
    await ports.store.collection(PAGES).insert({ id: `page of ${owner}`, letterId: `of ${owner}` });
  }
  const { store } = node;
  return { clock, watch, moves, begin, node, store, inner, letters: store.collection(LETTERS) };
}

const CALLS: Readonly<Record<string, (store: Store, owner: string) => Promise<unknown>>> = {
  get: (store, owner) => store.collection(LETTERS).get(`of ${owner}`),
  'get a part': (store, owner) => store.collection(PAGES).get(`page of ${owner}`),
  insert: (store, owner) => store.collection(LETTERS).insert(letter('new', owner)),
  'insert a part': (store, owner) => store.collection(PAGES).insert({ id: 'new', letterId: `of ${owner}` }),
  update: (store, owner) => store.collection(LETTERS).update(`of ${owner}`, { size: 2 }),
  add: (store, owner) => store.collection(LETTERS).add(`of ${owner}`, { size: 2 }),
  take: (store, owner) => store.collection(LETTERS).take(`of ${owner}`),
};

const WRITES: Readonly<Record<string, (owner: string) => StoreWrite>> = {
  insert: (owner) => toLetters.insert(letter('new', owner)),
  'insert a part': (owner) => toPages.insert({ id: 'new', letterId: `of ${owner}` }),
  update: (owner) => toLetters.update(`of ${owner}`, { size: 2 }),
  expect: (owner) => toLetters.expect(`of ${owner}`),
  count: (owner) => toLetters.count(`of ${owner}`, { size: 2 }),
  remove: (owner) => toLetters.remove(`of ${owner}`),
};

describe('a database from which an owner moves', () => {
  it.each(Object.entries(CALLS))('refuses to %s of the owner, and of no other', async (_, call) => {
    const { store, begin, inner } = await setUp();
    await begin();
    const before = await inner.find({});
    await expect(call(store, 'moving')).rejects.toSatisfy(isStorageUnavailable);
    expect(await inner.find({})).toEqual(before);
    expect(await call(store, 'other')).toBeTruthy();
  });

  it.each(Object.entries(CALLS))('refuses to %s of the owner in a transaction', async (_, call) => {
    const { store, begin, inner } = await setUp();
    await begin();
    const before = await inner.find({});
    const transact = (owner: string) => store.transaction((inside) => call(inside, owner));
    await expect(transact('moving')).rejects.toSatisfy(isStorageUnavailable);
    expect(await inner.find({})).toEqual(before);
    expect(await transact('other')).toBeTruthy();
  });

  it.each(Object.entries(WRITES))('refuses a step with the write %s of the owner', async (_, toWrite) => {
    const steps: (readonly StoreWrite[])[] = [];
    const writeAll = async (writes: readonly StoreWrite[]) => {
      steps.push(writes);
      return true;
    };
    const { store, begin } = await setUp({
      change: ({ store: inner }) => ({ store: { ...inner, writeAll } }),
    });
    await begin();
    const other = toLetters.expect('of other');
    await expect(store.writeAll?.([other, toWrite('moving')])).rejects.toSatisfy(isStorageUnavailable);
    expect(steps).toEqual([]);
    expect(await store.writeAll?.([other, toWrite('other')])).toBe(true);
    expect(steps).toHaveLength(1);
  });

  it('serves a step whose writes name no record', async () => {
    const { store, begin } = await setUp({
      change: ({ store: inner }) => ({ store: { ...inner, writeAll: async () => true } }),
    });
    await begin();
    const engine: StoreWrite = { do: 'engine', engine: {}, work: undefined, applied: () => undefined };
    const writes = [
      engine,
      toLetters.removeWhere({ ownerId: 'moving' }, 1),
      toLetters.read({ ownerId: 'moving' }, 1, () => undefined),
    ];
    expect(await store.writeAll?.(writes)).toBe(true);
  });

  it('serves lists, which its callers read from both databases', async () => {
    const { store, begin, letters } = await setUp();
    await begin();
    expect(await letters.find({})).toHaveLength(2);
    expect(await letters.count({})).toBe(2);
    expect(await store.transaction((inside) => inside.collection(LETTERS).count({}))).toBe(2);
    expect(await store.transaction((inside) => inside.collection(LETTERS).find({}))).toHaveLength(2);
    expect(await letters.removeWhere?.({ ownerId: 'other' })).toBe(1);
    expect(await letters.removeWhere?.({}, { limit: 1 })).toBe(1);
    expect(await letters.get('unknown')).toBeUndefined();
  });

  it.each([{ phase: 'draining' }, { source: 'c' }])('serves the owner otherwise: %j', async (options) => {
    const { store, begin } = await setUp(options);
    await begin();
    for (const call of Object.values(CALLS)) expect(await call(store, 'moving')).toBeTruthy();
  });

  it('does nothing while the moves cannot be read', async () => {
    const { store, letters, inner } = await setUp({
      readsMoves: false,
      change: ({ store: own }) => ({ store: { ...own, writeAll: async () => true } }),
    });
    const before = await inner.find({});
    const calls: Readonly<Record<string, (all: Store, owner: string) => Promise<unknown> | undefined>> = {
      ...CALLS,
      find: () => letters.find({}),
      count: () => letters.count({}),
      removeWhere: () => letters.removeWhere?.({}),
      writeAll: () => store.writeAll?.([]),
      transaction: () => store.transaction(async () => 1),
    };
    for (const call of Object.values(calls)) await expect(call(store, 'other')).rejects.toThrow('no moves');
    expect(await inner.find({})).toEqual(before);
  });

  it.each(['no owner', 'draining'])('reads nothing more while it refuses no owner: %s', async (phase) => {
    const reads: string[] = [];
    const { store, begin } = await setUp({
      phase,
      change: ({ store: inner }) => ({
        store: {
          ...inner,
          writeAll: async () => true,
          collection: (definition) => {
            const collection = inner.collection(definition);
            return {
              ...collection,
              get(id, ...rest) {
                reads.push(id);
                return collection.get(id, ...rest);
              },
            };
          },
        },
      }),
    });
    if (phase === 'draining') await begin();
    for (const call of Object.values(CALLS)) await call(store, 'moving');
    await store.writeAll?.(Object.values(WRITES).map((toWrite) => toWrite('moving')));
    expect(reads).toEqual(['of moving', 'page of moving']);
  });

  it('has steps only if its engine has', async () => {
    const { store } = await setUp({
      change: ({ store: { collection, transaction } }) => ({ store: { collection, transaction } }),
    });
    expect(store).not.toHaveProperty('writeAll');
  });
});

describe('a call that was paused while an owner moved', () => {
  const LEDGER = ['balance', 'hold', 'settle', 'release', 'record', 'grant'] as const;

  /** A database in which a call takes `ms` milliseconds, in which a move begins. */
  const pause = async (ms: number, verb: string) => {
    const tools: { begin(): Promise<void>; clock: { advance(ms: number): Promise<void> } }[] = [];
    const call = async (...args: unknown[]) => {
      await tools[0]?.begin();
      await tools[0]?.clock.advance(ms);
      return args;
    };
    const set = await setUp({
      change: ({ ledger, queue, store }) => ({
        ledger: { ...ledger, [verb]: call },
        queue: { ...queue, [verb]: call },
        store: {
          ...store,
          [verb]: call,
          collection: (definition) => ({ ...store.collection(definition), [verb]: call }),
        },
      }),
    });
    tools.push(set);
    return set;
  };

  it.each([...LEDGER, 'enqueue'] as const)('does not confirm %s', async (verb) => {
    const run = async (ms: number) => {
      const { node } = await pause(ms, verb);
      const port = (verb === 'enqueue' ? node.queue : node.ledger) as unknown as Record<
        string,
        (...args: readonly unknown[]) => Promise<unknown>
      >;
      return port[verb]?.(1, 2, 3);
    };
    expect(await run(4500)).toEqual([1, 2, 3]);
    await expect(run(4501)).rejects.toSatisfy(isStorageUnavailable);
  });

  it.each([
    'get',
    'find',
    'count',
    'insert',
    'update',
    'add',
    'take',
    'removeWhere',
    'writeAll',
    'transaction',
  ])('does not confirm %s of the store', async (verb) => {
    const run = async (ms: number) => {
      const { store, letters } = await pause(ms, verb);
      const calls: Readonly<Record<string, () => Promise<unknown> | undefined>> = {
        get: () => letters.get('x'),
        find: () => letters.find({}),
        count: () => letters.count({}),
        insert: () => letters.insert(letter('x', 'other')),
        update: () => letters.update('x', { size: 2 }),
        add: () => letters.add('x', { size: 2 }),
        take: () => letters.take('x'),
        removeWhere: () => letters.removeWhere?.({}),
        writeAll: () => store.writeAll?.([]),
        transaction: () => store.transaction(async () => 1),
      };
      return calls[verb]?.();
    };
    // The moves are not read again while a transaction may hold the only connection.
    const longest = verb === 'transaction' ? 6499 : 4500;
    expect(await run(longest)).toBeDefined();
    await expect(run(longest + 1)).rejects.toSatisfy(isStorageUnavailable);
  });

  it('does no further call of a transaction, which may use an older read of the moves until then', async () => {
    const { store, clock, watch } = await setUp();
    const ids: (string | undefined)[] = [];
    const transact = (ms: number) =>
      store.transaction(async (inside) => {
        await clock.advance(ms);
        ids.push((await inside.collection(LETTERS).get('of other'))?.id);
        await watch.refresh();
      });
    await transact(4500);
    await expect(transact(4501)).rejects.toThrow('a transaction took too long');
    expect(ids).toEqual(['of other']);
  });

  it('reads the moves before a transaction, and as often as other calls after it', async () => {
    const { store, clock, moves, watch } = await setUp();
    await store.transaction(async () => 1);
    await moves.insert({ id: 'moving', source: 'a', target: 'b', phase: 'closed' });
    await clock.advance(2000);
    const failed = store.transaction((inside) => inside.collection(LETTERS).get('of moving'));
    await expect(failed).rejects.toSatisfy(isStorageUnavailable);
    await moves.take('moving');
    await clock.advance(2000);
    await watch.refresh();
    expect(watch.isAnyClosed).toBe(false);
    const work = new Error('work');
    await expect(store.transaction(() => Promise.reject(work))).rejects.toBe(work);
    await moves.insert({ id: 'moving', source: 'a', target: 'b', phase: 'closed' });
    await clock.advance(2000);
    await watch.refresh();
    expect(watch.isAnyClosed).toBe(true);
  });
});
