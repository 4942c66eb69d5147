import type { Charge, CreditLedger, ExportedEntry } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import {
  exportParts,
  getHistoryNodes,
  joinCharges,
  MOVE_KEY,
  readEntries,
  toParts,
} from '../src/shards/history.ts';
import type { ShardNode } from '../src/shards/nodes.ts';

const ACCOUNT = 'user:a';
const toId = (number: number) => number.toString(16).padStart(24, '0');

/** A database with the entries of one account, whose ids and positions count from 1. */
function createNode(name: string, keys: readonly string[]) {
  const entries = keys.map(
    (key, at): ExportedEntry => ({
      ...{ id: toId(at + 1), account: ACCOUNT, kind: 'grant', amount: 1, key, reason: '' },
      ...{ createdAt: 0, position: at + 1 },
    }),
  );
  const asked: string[] = [];
  const ask = (call: string): void => {
    if (asked.push(call) > 2000) throw new Error('asked too often');
  };
  const ledger: Pick<CreditLedger, 'entries' | 'exportEntries'> = {
    async entries(account, { limit, before = 'g' }) {
      ask(`entries ${account} ${limit}`);
      const found = entries.filter(({ id }) => id < before).toReversed();
      return found.slice(0, limit).map(({ position: _, ...entry }) => entry);
    },
    async exportEntries({ account, after, limit }) {
      ask(`export ${account} ${after} ${limit}`);
      return entries.filter(({ position }) => position > after).slice(0, limit);
    },
  };
  return { asked, node: { name, ledger } as unknown as ShardNode };
}

const move = (name: string) => `${MOVE_KEY}${name}`;

/** An account that was on `a`, then on `b`, and came back to `a`. */
function setUp() {
  const a = createNode('a', ['a1', 'a2', 'a3', move('1 out'), move('2 in'), 'a4', 'a5']);
  const b = createNode('b', [move('1 in'), 'b1', 'b2', 'b3', 'b4', move('2 out')]);
  const former = [
    { shard: 'a', position: 4, entry: toId(4) },
    { shard: 'b', position: 10, entry: toId(6) },
  ];
  const getNode = (name: string) => (name === 'b' ? b.node : a.node);
  return { a, b, former, getNode, parts: toParts(a.node, former, getNode) };
}

const NEWEST = ['a5', 'a4', 'b4', 'b3', 'b2', 'b1', 'a3', 'a2', 'a1'];

describe('the parts of a history', () => {
  it('follow each other, also where an account comes back', () => {
    const { a, b, parts } = setUp();
    const none = toId(0);
    expect(parts).toEqual([
      { node: a.node, start: 0, end: 4, localStart: 0, afterEntry: none, lastEntry: toId(4) },
      { node: b.node, start: 4, end: 10, localStart: 0, afterEntry: none, lastEntry: toId(6) },
      {
        ...{ node: a.node, start: 10, end: Number.POSITIVE_INFINITY },
        ...{ localStart: 4, afterEntry: toId(4), lastEntry: undefined },
      },
    ]);
    expect(getHistoryNodes(parts)).toEqual([a.node, b.node]);
  });

  it('follow each other, however often an account comes back', () => {
    const { a, b, former, getNode } = setUp();
    const again = [...former, { shard: 'a', position: 13, entry: toId(7) }];
    expect(toParts(b.node, again, getNode).map(({ start, localStart }) => [start, localStart])).toEqual([
      [0, 0],
      [4, 0],
      [10, 4],
      [13, 6],
    ]);
    const last = toParts(a.node, [...again, { shard: 'b', position: 15, entry: toId(8) }], getNode).at(-1);
    expect(last).toMatchObject({ start: 15, localStart: 7, afterEntry: toId(7) });
  });

  it('use the database at hand for the shard on which the account is', () => {
    const { a, former } = setUp();
    const asked: string[] = [];
    const getNode = (name: string) => {
      asked.push(name);
      return a.node;
    };
    toParts(a.node, former, getNode);
    expect(asked).toEqual(['b']);
  });
});

describe('the entries of an account that has moved', () => {
  it.each([1, 2, 3, 4, 5, 7, 8, 20])('are there once, newest first, %i at a time', async (limit) => {
    const { parts } = setUp();
    const keys: string[] = [];
    const ids: string[] = [];
    let before: string | undefined;
    for (let pages = 0; pages < 20; pages += 1) {
      const cursor = before === undefined ? { limit } : { limit, before };
      const page = await readEntries(parts, ACCOUNT, cursor, undefined);
      keys.push(...page.map(({ key }) => key));
      ids.push(...page.map(({ id }) => id));
      expect(page.length).toBeLessThanOrEqual(limit);
      if (page.length < limit) break;
      before = page.at(-1)?.id;
    }
    expect(keys).toEqual(NEWEST);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
    expect(ids.every((id) => /^[0-9a-f]{24}$/.test(id))).toBe(true);
    // The first part keeps the ids of its database.
    expect(ids.slice(-3)).toEqual([toId(3), toId(2), toId(1)]);
  });

  it('are asked for no more than is needed', async () => {
    const { a, b, parts } = setUp();
    await readEntries(parts, ACCOUNT, { limit: 2 }, undefined);
    expect([a.asked, b.asked]).toEqual([['entries user:a 2'], []]);
    a.asked.splice(0);
    await readEntries(parts, ACCOUNT, { limit: 20 }, undefined);
    expect([a.asked, b.asked]).toEqual([['entries user:a 20', 'entries user:a 14'], ['entries user:a 18']]);
    for (const asked of [a.asked, b.asked]) asked.splice(0);
    await readEntries(parts, ACCOUNT, { limit: 5 }, undefined);
    expect([a.asked, b.asked]).toEqual([['entries user:a 5'], ['entries user:a 3', 'entries user:a 1']]);
  });

  it('begin before an id that is not known', async () => {
    const { parts } = setUp();
    const read = async (before: string) =>
      (await readEntries(parts, ACCOUNT, { limit: 20, before }, undefined)).map(({ key }) => key);
    expect(await read('f'.repeat(24))).toEqual(NEWEST);
    expect(await read('no id')).toEqual([]);
  });

  it('keep their ids while it has not moved', async () => {
    const { b } = setUp();
    const parts = toParts(b.node, [], () => b.node);
    const page = await readEntries(parts, ACCOUNT, { limit: 2, before: toId(5) }, undefined);
    expect(page.map(({ id, key }) => [id, key])).toEqual([
      [toId(4), 'b3'],
      [toId(3), 'b2'],
    ]);
    const exported = await exportParts(parts, { account: ACCOUNT, after: 5, limit: 9 }, undefined);
    expect(exported.map(({ id, key }) => [id, key])).toEqual([[toId(6), move('2 out')]]);
    expect(b.asked).toEqual(['entries user:a 2', 'export user:a 5 9']);
    expect(await readEntries(parts, ACCOUNT, { limit: 9 }, undefined)).toHaveLength(6);
    expect(await readEntries([], ACCOUNT, { limit: 2 }, undefined)).toEqual([]);
  });
});

describe('an account without credit that has moved often', () => {
  const KEYS = Array.from({ length: 20 }, (_, at) => [`a${at}`, `b${at}`]);

  /** Each part has one entry, and none for a move. */
  function setUpMany() {
    const [a, b] = [0, 1].map((side) =>
      createNode(
        side === 0 ? 'a' : 'b',
        KEYS.map((pair) => pair[side] ?? ''),
      ),
    );
    if (a === undefined || b === undefined) throw new Error('two databases');
    const former = KEYS.flatMap((_, at) =>
      ['a', 'b'].map((shard, side) => ({ shard, position: 2 * at + side + 1, entry: toId(at + 1) })),
    ).slice(0, -1);
    return toParts(b.node, former, (name) => (name === 'a' ? a.node : b.node));
  }

  it.each([1, 3, 50])('has every entry once, %i at a time', async (limit) => {
    const parts = setUpMany();
    const keys: string[] = [];
    const exported: string[] = [];
    let before = 'f'.repeat(24);
    let after = 0;
    for (let pages = 0; pages < 50; pages += 1) {
      const page = await readEntries(parts, ACCOUNT, { limit, before }, undefined);
      keys.push(...page.map(({ key }) => key));
      before = page.at(-1)?.id ?? toId(0);
      const next = await exportParts(parts, { account: ACCOUNT, after, limit }, undefined);
      exported.push(...next.map(({ key }) => key));
      after = next.at(-1)?.position ?? 1000;
    }
    expect(exported).toEqual(KEYS.flat());
    expect(keys).toEqual(KEYS.flat().toReversed());
  });
});

describe('the export of an account that has moved', () => {
  it.each([1, 2, 3, 4, 5, 7, 20])('has every entry once, in order, %i at a time', async (limit) => {
    const { parts } = setUp();
    const all: ExportedEntry[] = [];
    let after = 0;
    for (let pages = 0; pages < 20; pages += 1) {
      const page = await exportParts(parts, { account: ACCOUNT, after, limit }, undefined);
      expect(page.length).toBeLessThanOrEqual(limit);
      all.push(...page);
      if (page.length < limit) break;
      after = page.at(-1)?.position ?? 0;
    }
    expect(all.map(({ key }) => key)).toEqual(NEWEST.toReversed());
    expect(all.map(({ position }) => position)).toEqual([1, 2, 3, 6, 7, 8, 9, 12, 13]);
    const newest = await readEntries(parts, ACCOUNT, { limit: 20 }, undefined);
    expect(all.map(({ id }) => id)).toEqual(newest.map(({ id }) => id).toReversed());
  });

  it('asks no database for entries that it does not have', async () => {
    const { a, b, parts } = setUp();
    await exportParts(parts, { account: ACCOUNT, after: 10, limit: 9 }, undefined);
    expect([a.asked, b.asked]).toEqual([['export user:a 4 9'], []]);
    a.asked.splice(0);
    await exportParts(parts, { account: ACCOUNT, after: 4, limit: 4 }, undefined);
    expect([a.asked, b.asked]).toEqual([[], ['export user:a 0 4', 'export user:a 4 1']]);
  });

  it('has nothing of a database that exports nothing', async () => {
    const node = { name: 'c', ledger: {} } as unknown as ShardNode;
    const page = { account: ACCOUNT, after: 0, limit: 5 };
    expect(
      await exportParts(
        toParts(node, [], () => node),
        page,
        undefined,
      ),
    ).toEqual([]);
    const former = [{ shard: 'c', position: 2, entry: toId(2) }];
    expect(
      await exportParts(
        toParts(node, former, () => node),
        page,
        undefined,
      ),
    ).toEqual([]);
  });
});

it('shows a charge of two databases once, as it was settled', () => {
  const charge = (id: string, status: Charge['status']) => ({ id, status }) as Charge;
  const [released, settled, other] = [
    charge('1', 'released'),
    charge('1', 'settled'),
    charge('2', 'released'),
  ];
  expect(joinCharges([released, settled, other])).toEqual([settled, other]);
  expect(joinCharges([settled, other, released])).toEqual([settled, other]);
});
