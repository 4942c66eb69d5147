import { createMemoryStore } from '@questline/core/memory';
import type { Collection, Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import {
  createCache,
  createShardDirectory,
  SHARD_PLACEMENTS,
  type ShardPlacementRecord,
} from '../src/shards/directory.ts';

const OWNERS = Array.from({ length: 300 }, (_, at) => `owner ${at}`);

/** A store of placements that counts its reads. */
function setUp(
  change: (inner: Collection<ShardPlacementRecord>) => Partial<Collection<ShardPlacementRecord>>,
) {
  const inner = createMemoryStore();
  const placements = inner.collection(SHARD_PLACEMENTS);
  const reads: string[] = [];
  const collection: Collection<ShardPlacementRecord> = {
    ...placements,
    get(id, ...rest) {
      reads.push(id);
      return placements.get(id, ...rest);
    },
    ...change(placements),
  };
  const store = { ...inner, collection: () => collection } as unknown as Store;
  const open = (shards: readonly string[] = ['a', 'b'], choose?: () => string) =>
    createShardDirectory({ store, shards, ...(choose && { choose }) });
  return { placements, reads, open };
}

describe('the directory of owners', () => {
  it('chooses a shard once, which every process finds', async () => {
    const { open, placements } = setUp(() => ({}));
    const [here, there] = [open(['a', 'b'], () => 'b'), open(['a', 'b'], () => 'a')];
    expect(await here.find('o')).toBeUndefined();
    expect(await here.place('o')).toBe('b');
    expect([await here.find('o'), await there.find('o')]).toEqual(['b', 'b']);
    expect(await there.place('o')).toBe('b');
    expect(await placements.get('o')).toEqual({ id: 'o', shard: 'b' });
  });

  it('remembers what it has read or placed, until it forgets', async () => {
    const { open, reads, placements } = setUp(() => ({}));
    const [here, there] = [open(), open()];
    await here.find('o');
    await here.place('o');
    expect(reads).toEqual(['o', 'o']);
    await here.find('o');
    await there.find('o');
    await there.place('o');
    await there.findFormer?.('o', 'user:o');
    expect(reads).toEqual(['o', 'o', 'o']);
    const former = { 'user:o': [{ shard: 'a', position: 3, entry: 'e' }] };
    await placements.update('o', { shard: 'c', former });
    expect(await there.find('o')).not.toBe('c');
    there.forget?.();
    expect(await there.find('o')).toBe('c');
    expect(await there.findFormer?.('o', 'user:o')).toEqual(former['user:o']);
    expect(await there.findFormer?.('o', 'organization:o')).toEqual([]);
    expect(await there.findFormer?.('another', 'user:o')).toEqual([]);
  });

  it('takes the choice of a process that was first', async () => {
    const { open } = setUp((inner) => ({
      async insert(record) {
        await inner.insert({ ...record, shard: 'first' });
        return false;
      },
    }));
    const directory = open();
    expect(await directory.place('o')).toBe('first');
    expect(await directory.find('o')).toBe('first');
  });

  it('fails if a placement disappears', async () => {
    const { open } = setUp(() => ({ insert: async () => false }));
    await expect(open().place('o')).rejects.toThrow('a placement disappeared');
  });

  it('passes on the signal of its caller', async () => {
    const signals: unknown[] = [];
    const { open } = setUp((inner) => ({
      get(id, guard, options) {
        signals.push(options?.signal);
        return inner.get(id, guard);
      },
      insert(record, options) {
        signals.push(options?.signal);
        return inner.insert(record);
      },
    }));
    const { signal } = new AbortController();
    await open().place('o', { signal });
    await open().find('o', { signal });
    await open().findFormer?.('o', 'user:o', { signal });
    expect(signals).toEqual([signal, signal, signal, signal]);
  });

  it('spreads owners evenly, and moves none of them to another former shard when one is added', async () => {
    const choose = async (shards: readonly string[]) => {
      const directory = setUp(() => ({})).open(shards);
      return Promise.all(OWNERS.map((owner) => directory.place(owner)));
    };
    const [two, three, reordered] = [
      await choose(['a', 'b']),
      await choose(['a', 'b', 'c']),
      await choose(['c', 'b', 'a']),
    ];
    for (const shard of ['a', 'b']) expect(two.filter((one) => one === shard).length).toBeGreaterThan(100);
    for (const shard of ['a', 'b', 'c']) {
      expect(three.filter((one) => one === shard).length).toBeGreaterThan(70);
    }
    expect(three.filter((shard, at) => shard !== 'c' && shard !== two[at])).toEqual([]);
    expect(reordered).toEqual(three);
    await expect(choose([])).rejects.toThrow('no shard receives new owners');
  });
});

describe('a cache', () => {
  it('forgets the entry that was set first', () => {
    const cache = createCache<number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    expect([cache.get('a'), cache.get('b')]).toEqual([1, 2]);
    cache.set('a', 3);
    cache.set('c', 4);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([3, undefined, 4]);
  });

  it('forgets what it is asked to', () => {
    const cache = createCache<number>(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, 1);
    cache.delete('a');
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([undefined, 1, 1]);
    cache.clear();
    expect([cache.get('b'), cache.get('c')]).toEqual([undefined, undefined]);
  });
});
