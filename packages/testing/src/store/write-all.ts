import { type Store, type StoreWrite, writeAll, writesTo } from '@questline/core/ports';
import { expect } from 'vitest';
import { inParallel } from '../parallel.ts';
import {
  allStores,
  fill,
  getId,
  getNotes,
  getNumbers,
  getWallets,
  note,
  notes,
  type StoreCase,
  wallets,
} from './subject.ts';

const toNotes = writesTo(notes);
const toWallets = writesTo(wallets);
const byOwner = (ownerId: string) => ({ ownerId });

/** Writes that have no effect on notes 1 (`slug: 'one'`) and 2, with wallets 1 of 5 coins and 3 of 4. */
const WITHOUT_EFFECT: readonly StoreWrite[] = [
  toNotes.insert(note(1)),
  toNotes.insert(note(9, { slug: 'one' })),
  toNotes.update(getId(2), { rank: 3 }, byOwner('bob')),
  toNotes.update(getId(7), { rank: 3 }),
  toNotes.update(getId(2), { slug: 'one' }),
  toNotes.expect(getId(7)),
  toNotes.expect(getId(1), byOwner('bob')),
  toWallets.expectNone(getId(1), { coins: { gte: 5 } }),
  toWallets.add(getId(7), { coins: 1 }),
  toWallets.add(getId(3), { coins: 1 }, { coins: { gte: 6 } }),
  toNotes.remove(getId(7)),
  toNotes.remove(getId(1), byOwner('bob')),
  toNotes.removeWhere({ slug: 'one' }, 0),
  toWallets.removeWhere({ coins: { gte: 4 } }, 1),
  { do: 'engine', engine: {}, work: undefined, applied: () => undefined },
];

const WALLETS = [
  { id: getId(1), ownerId: 'alice', coins: 5 },
  { id: getId(3), ownerId: 'alice', coins: 4 },
];

async function start(store: Store): Promise<void> {
  await fill({ store }, [note(1, { slug: 'one', rank: 1 }), note(2, { rank: 2, title: 'x' })]);
  for (const wallet of WALLETS) await getWallets(store).insert(wallet);
}

/** Cases of `writeAll`; a store without it passes by its transactions. */
export const writeAllCases: readonly StoreCase[] = [
  {
    name: 'applies all writes of a step, to several collections',
    section: 'behaviour',
    async run({ store }) {
      await start(store);
      const text = 'quote \' " \\ $1 ? @name \u{1f30d}';
      const isDone = await writeAll(store, [
        toNotes.expect(getId(2), byOwner('alice')),
        toWallets.expectNone(getId(1), { coins: { gte: 6 } }),
        toWallets.expectNone(getId(4), { coins: { gte: 0 } }),
        toNotes.update(getId(1), { rank: 7, slug: undefined, body: { text } }, { rank: 1 }),
        toNotes.insert(note(3, { title: text, tags: ['a', 'b'], body: [null, { at: 1 }] })),
        toWallets.count(getId(1), { coins: 4 }),
        toWallets.count(getId(2), { coins: -3 }),
      ]);
      expect(isDone).toBe(true);
      const collection = getNotes({ store });
      expect(await collection.get(getId(1))).toEqual(note(1, { rank: 7, body: { text } }));
      expect(await collection.get(getId(3))).toEqual(
        note(3, { title: text, tags: ['a', 'b'], body: [null, { at: 1 }] }),
      );
      expect(getNumbers(await collection.find({ tags: { has: 'b' }, title: text }))).toEqual([3]);
      expect(await getWallets(store).get(getId(1))).toMatchObject({ ownerId: 'alice', coins: 9 });
      expect(await getWallets(store).get(getId(2))).toEqual({ id: getId(2), coins: -3 });
      expect(await writeAll(store, [])).toBe(true);
    },
  },
  {
    name: 'applies none of the writes of a step when one of them has no effect',
    section: 'behaviour',
    async run({ store }) {
      await start(store);
      const others = [
        toNotes.update(getId(2), { rank: 5, title: undefined }, { rank: 2 }),
        toNotes.insert(note(3, { code: 'c3' })),
        toWallets.count(getId(1), { coins: 1 }),
        toWallets.count(getId(2), { coins: 1 }),
      ];
      const before = await getNotes({ store }).find({});
      for (const write of WITHOUT_EFFECT) {
        for (let at = 0; at <= others.length; at += 1) {
          const writes = [...others.slice(0, at), write, ...others.slice(at)];
          // After `others`, an expectation of the same record sees the state before them or after them.
          if (write.do === 'expect-none' && at > 2) continue;
          expect(await writeAll(store, writes)).toBe(false);
        }
        expect(await getNotes({ store }).find({})).toEqual(before);
        expect(await getWallets(store).find({})).toEqual(WALLETS);
      }
      expect(await writeAll(store, others)).toBe(true);
    },
  },
  {
    name: 'deletes, and adds to records that exist, in one step with other writes',
    section: 'behaviour',
    async run({ store }) {
      await start(store);
      const bobs = [4, 5, 6].map((number) => note(number, { ownerId: 'bob' }));
      await fill({ store }, bobs);
      const toStep = (max: number): readonly StoreWrite[] => [
        toNotes.remove(getId(1), { slug: 'one' }),
        toNotes.removeWhere(byOwner('bob'), max),
        toNotes.removeWhere(byOwner('carol'), 0),
        toWallets.removeWhere(byOwner('bob'), 5),
        toWallets.add(getId(1), { coins: -2 }, { coins: 5 }),
        toNotes.insert(note(7)),
      ];
      expect(await writeAll(store, toStep(2))).toBe(false);
      expect(getNumbers(await getNotes({ store }).find({}))).toEqual([1, 2, 4, 5, 6]);
      expect(await writeAll(store, toStep(3))).toBe(true);
      expect(getNumbers(await getNotes({ store }).find({}))).toEqual([2, 7]);
      expect(await getWallets(store).get(getId(1))).toMatchObject({ ownerId: 'alice', coins: 3 });
    },
  },
  {
    name: 'reads records as they were before the writes of the step',
    section: 'behaviour',
    async run({ store }) {
      await start(store);
      const found = new Map<string, readonly object[]>();
      const as = (name: string) => (records: readonly object[]) => void found.set(name, records);
      const toStep = (rank: number): readonly StoreWrite[] => [
        toNotes.read({ slug: 'one' }, 1, as('by slug')),
        toNotes.expect(getId(2)),
        toNotes.read(byOwner('alice'), 2, as('by owner')),
        toNotes.update(getId(1), { rank: 7 }, { rank }),
        toNotes.remove(getId(2)),
        toNotes.insert(note(3, { slug: 'three' })),
        toNotes.read({ slug: 'three' }, 5, as('inserted')),
        toWallets.read({ coins: { gte: 4 } }, 1, as('first wallet')),
        toNotes.read({ slug: 'no' }, 1, as('none')),
      ];
      expect(await writeAll(store, toStep(2))).toBe(false);
      expect(found.size).toBe(0);
      const before = await getNotes({ store }).find({});
      expect(await writeAll(store, toStep(1))).toBe(true);
      expect(Object.fromEntries(found)).toEqual({
        'by slug': before.slice(0, 1),
        'by owner': before,
        inserted: [],
        'first wallet': WALLETS.slice(0, 1),
        none: [],
      });
      expect(getNumbers(await getNotes({ store }).find({}))).toEqual([1, 3]);
      expect(await writeAll(store, [toNotes.read({ id: getId(3) }, 1, as('alone'))])).toBe(true);
      expect(found.get('alone')).toEqual([note(3, { slug: 'three' })]);
    },
  },
  {
    name: 'reads records in the order of a field, if it can, as `find` does',
    section: 'behaviour',
    async run({ store }) {
      const ranks = [3, 1, 2, 3, 2];
      for (const [at, rank] of ranks.entries()) await getNotes({ store }).insert(note(at + 1, { rank }));
      for (const direction of ['asc', 'desc'] as const) {
        let found: readonly object[] = [];
        const read = toNotes.readOrdered({}, { field: 'rank', direction, max: 4 }, (records) => {
          found = records;
        });
        const isDone = await writeAll(store, [read, toNotes.update(getId(1), { slug: direction })]);
        const before = await getNotes({ store }).find({}, { order: { field: 'rank', direction }, limit: 4 });
        if (isDone) expect(getNumbers(found as never)).toEqual(getNumbers(before));
      }
    },
  },
  {
    name: 'rejects a step with an invalid value or an undefined condition, and writes nothing',
    section: 'behaviour',
    async run({ store }) {
      await start(store);
      const insert = toNotes.insert(note(3));
      const invalid = [
        toNotes.update(getId(1), { rank: 2 }, { ownerId: undefined } as never),
        toNotes.expect(getId(1), { ownerId: undefined } as never),
        toNotes.read({ ownerId: undefined } as never, 1, () => undefined),
        toNotes.read({}, 0, () => undefined),
        // Otherwise the verbs of the store decide, which may accept other values.
        ...(store.writeAll === undefined
          ? []
          : [
              toNotes.insert(note(4, { rank: 'high' as unknown as number })),
              toNotes.update(getId(1), { rank: 1.5 }),
            ]),
      ];
      for (const write of invalid) await expect(writeAll(store, [insert, write])).rejects.toThrow();
      expect(await getNotes({ store }).count({})).toBe(2);
    },
  },
  {
    name: 'lets one of many parallel steps with the same guard succeed, with all of its writes',
    section: 'race',
    async run(subject) {
      const { store } = subject;
      await start(store);
      const done = await inParallel(20, allStores(subject), (each, at) =>
        writeAll(each, [
          toNotes.expect(getId(1)),
          toNotes.update(getId(2), { rank: 100 + at }, { rank: 2 }),
          toNotes.insert(note(10 + at)),
          toWallets.count(getId(1), { coins: 1 }),
        ]),
      );
      expect(done.filter(Boolean)).toHaveLength(1);
      const winner = done.indexOf(true);
      expect(await getNotes(subject).get(getId(2))).toMatchObject({ rank: 100 + winner });
      expect(getNumbers(await getNotes(subject).find({}))).toEqual([1, 2, 10 + winner]);
      expect(await getWallets(store).get(getId(1))).toMatchObject({ coins: 6 });
    },
  },
  {
    name: 'adds nothing to a record that was deleted, and loses no count',
    section: 'race',
    async run(subject) {
      const { store } = subject;
      await start(store);
      let atDeletion = -1;
      const done = await inParallel(30, allStores(subject), async (each, at) => {
        if (at === 12) {
          await getNotes({ store: each }).take(getId(1));
          atDeletion = await getNotes({ store: each }).count({ title: 'added' });
          return false;
        }
        return writeAll(each, [
          toNotes.expect(getId(1)),
          toNotes.insert(note(10 + at, { title: 'added' })),
          toWallets.count(getId(5), { coins: 1 }),
        ]);
      });
      const added = done.filter(Boolean).length;
      expect(await getNotes(subject).count({ title: 'added' })).toBe(added);
      expect(added).toBe(atDeletion);
      expect((await getWallets(store).get(getId(5)))?.coins ?? 0).toBe(added);
    },
  },
  {
    name: 'lets every parallel step succeed whose guard still matches after the others',
    section: 'race',
    async run(subject) {
      await start(subject.store);
      const done = await inParallel(20, allStores(subject), (each, at) =>
        writeAll(each, [
          toWallets.add(getId(1), { coins: 1 }, { coins: { gte: 5 } }),
          toNotes.insert(note(10 + at)),
        ]),
      );
      expect(done.filter(Boolean)).toHaveLength(20);
      expect(await getWallets(subject.store).get(getId(1))).toMatchObject({ coins: 25 });
    },
  },
  {
    name: 'deletes records in one of many parallel steps',
    section: 'race',
    async run(subject) {
      await start(subject.store);
      const done = await inParallel(20, allStores(subject), (each) =>
        writeAll(each, [
          toNotes.remove(getId(1)),
          toNotes.removeWhere({ id: getId(2) }, 1),
          toWallets.add(getId(1), { coins: -1 }),
        ]),
      );
      expect(done.filter(Boolean)).toHaveLength(1);
      expect(await getNotes(subject).count({})).toBe(0);
      expect(await getWallets(subject.store).get(getId(1))).toMatchObject({ coins: 4 });
    },
  },
];
