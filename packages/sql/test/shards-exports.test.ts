import { createMemoryStore } from '@questline/core/memory';
import type { ExportedEntry, Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createShardedExport, SHARD_EXPORTS } from '../src/shards/exports.ts';
import type { ShardNode, ShardNodes } from '../src/shards/nodes.ts';

/** A database whose entries have these positions. */
function createNode(name: string, store: Store, ...positions: readonly number[]) {
  const entries: ExportedEntry[] = [];
  const add = (...more: readonly number[]): void => {
    for (const position of more) {
      entries.push({
        ...{ id: `${position}`, account: 'a', kind: 'grant', amount: 1, key: `${name}${position}` },
        ...{ reason: '', createdAt: 0, position },
      });
    }
  };
  add(...positions);
  const asked: (readonly [after: number, limit: number])[] = [];
  const ledger = {
    async exportEntries({ after, limit }: { after: number; limit: number }) {
      if (asked.push([after, limit]) > 5000) throw new Error('asked too often');
      return entries.filter(({ position }) => position > after).slice(0, limit);
    },
  };
  return { node: { name, store, ledger } as unknown as ShardNode, add, asked };
}

function setUp(a: readonly number[], b: readonly number[]) {
  const store = createMemoryStore();
  const [first, second] = [createNode('a', store, ...a), createNode('b', store, ...b)];
  const all = [first.node, second.node];
  const nodes: ShardNodes = {
    home: first.node,
    all,
    get: (name) => all.find((node) => node.name === name) ?? first.node,
  };
  const open = () => createShardedExport(nodes);
  const readAll = async (limit: number, read = open()) => {
    const found: ExportedEntry[] = [];
    for (let after = 0; ; ) {
      const page = await read({ after, limit }, undefined);
      expect(page.length).toBeLessThanOrEqual(limit);
      found.push(...page);
      if (page.length < limit || found.length > 5000) return found;
      after = page.at(-1)?.position ?? 0;
    }
  };
  return { store, nodes, first, second, open, readAll, runs: store.collection(SHARD_EXPORTS) };
}

const toKeys = (entries: readonly ExportedEntry[]) => entries.map(({ key }) => key);
const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

describe('the export of all accounts of several databases', () => {
  it.each([1, 2, 3, 4, 100])('has every entry once, in an order that stays, %i at a time', async (limit) => {
    const { readAll, first, second } = setUp([1, 2, 5], [2, 3]);
    const before = await readAll(limit);
    expect(toKeys(before)).toEqual(['a1', 'a2', 'a5', 'b2', 'b3']);
    expect(before.map(({ position }) => position)).toEqual([1, 2, 5, 7, 8]);
    expect(before.map(({ id }) => Number.parseInt(id, 16))).toEqual([1, 2, 5, 7, 8]);
    expect(before.every(({ id }) => /^[0-9a-f]{24}$/.test(id))).toBe(true);
    second.add(4);
    first.add(9);
    const after = await readAll(limit);
    expect(toKeys(after)).toEqual([...toKeys(before), 'a9', 'b4']);
    expect(after.map(({ position }) => position)).toEqual([1, 2, 5, 7, 8, 12, 13]);
    expect(await readAll(limit)).toEqual(after);
  });

  it('records the place of up to 1,000 entries of a database at once', async () => {
    const { readAll, runs } = setUp(upTo(1500), upTo(3));
    const entries = await readAll(1000);
    expect(entries.map(({ position }) => position)).toEqual(upTo(1503));
    expect(entries[20]?.id).toBe('15'.padStart(24, '0'));
    const places = (await runs.find({})).map(({ id, shard, start, end, after }) => ({
      ...{ id, shard, start, end, after },
    }));
    expect(places).toEqual([
      { id: '0000000000000001', shard: 'a', start: 0, end: 1000, after: 0 },
      { id: '0000000000001001', shard: 'a', start: 1000, end: 1500, after: 1000 },
      { id: '0000000000001501', shard: 'b', start: 1500, end: 1503, after: 0 },
    ]);
  });

  it('asks each database only for what it has', async () => {
    const { open, first, second } = setUp(upTo(5), upTo(5));
    const read = open();
    await read({ after: 0, limit: 10 }, undefined);
    for (const { asked } of [first, second]) asked.splice(0);
    expect(toKeys(await read({ after: 3, limit: 4 }, undefined))).toEqual(['a4', 'a5', 'b1', 'b2']);
    expect([first.asked, second.asked]).toEqual([[[3, 4]], [[0, 2]]]);
    for (const { asked } of [first, second]) asked.splice(0);
    expect(toKeys(await read({ after: 5, limit: 5 }, undefined))).toEqual(upTo(5).map((at) => `b${at}`));
    expect([first.asked, second.asked]).toEqual([[], [[0, 5]]]);
    for (const { asked } of [first, second]) asked.splice(0);
    expect(await read({ after: 10, limit: 5 }, undefined)).toEqual([]);
    expect([first.asked, second.asked]).toEqual([[[5, 1000]], [[5, 1000]]]);
  });

  it('goes on with what another reader has recorded meanwhile', async () => {
    const { store, nodes, first, second, readAll } = setUp([1, 2], [1]);
    const runs = store.collection(SHARD_EXPORTS);
    let isFirst = true;
    const collection = () => ({
      ...runs,
      async insert(record: Parameters<typeof runs.insert>[0]) {
        if (!isFirst) return runs.insert(record);
        isFirst = false;
        await runs.insert({ id: '0000000000000001', shard: 'b', start: 0, end: 1, after: 0 });
        return runs.insert(record);
      },
    });
    const home = { ...first.node, store: { ...store, collection } as never };
    const read = createShardedExport({ ...nodes, home });
    const found = await readAll(100, read);
    expect(toKeys(found)).toEqual(['b1', 'a1', 'a2']);
    expect(found).toEqual(await readAll(1));
    second.add(2);
    expect(toKeys(await readAll(100, read))).toEqual(['b1', 'a1', 'a2', 'b2']);
  });

  it('fails when it cannot record the place of entries', async () => {
    const { store, nodes, first } = setUp([1], []);
    const runs = store.collection(SHARD_EXPORTS);
    const collection = () => ({ ...runs, insert: () => Promise.reject(new Error('lost')) });
    const home = { ...first.node, store: { ...store, collection } as never };
    const failed = createShardedExport({ ...nodes, home })({ after: 0, limit: 5 }, undefined);
    await expect(failed).rejects.toThrow('lost');
  });

  it('is empty without entries, and without databases that export', async () => {
    const { open, first, second } = setUp([], []);
    expect(await open()({ after: 0, limit: 5 }, undefined)).toEqual([]);
    for (const { node } of [first, second]) Object.assign(node, { ledger: {} });
    expect(await open()({ after: 0, limit: 5 }, undefined)).toEqual([]);
  });

  it('passes on the signal of its caller', async () => {
    const { store, nodes, first } = setUp([1], []);
    const signals: unknown[] = [];
    const runs = store.collection(SHARD_EXPORTS);
    const collection = () => ({
      ...runs,
      find(filter: Parameters<typeof runs.find>[0], options: Parameters<typeof runs.find>[1]) {
        signals.push(options?.signal);
        return runs.find(filter, options);
      },
      insert(record: Parameters<typeof runs.insert>[0], options: Parameters<typeof runs.insert>[1]) {
        signals.push(options?.signal);
        return runs.insert(record);
      },
    });
    const home = { ...first.node, store: { ...store, collection } as never };
    const { signal } = new AbortController();
    await createShardedExport({ ...nodes, home })({ after: 0, limit: 5 }, { signal });
    expect(signals.length).toBeGreaterThan(5);
    expect(signals.every((one) => one === signal)).toBe(true);
  });
});
