import { expect } from 'vitest';
import { aborting, inParallel } from '../parallel.ts';
import { allStores, fill, getId, getNotes, getWallets, note, type StoreCase } from './subject.ts';

const WHEN = ['before', 'during'] as const;

export const raceCases: readonly StoreCase[] = [
  {
    name: 'accepts one of 50 parallel inserts of one id',
    section: 'race',
    async run(subject) {
      const made = await inParallel(50, allStores(subject), (store, at) =>
        getNotes({ store }).insert(note(1, { rank: at })),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await getNotes(subject).get(getId(1))).toMatchObject({ rank: made.indexOf(true) });
    },
  },
  {
    name: 'accepts one of 50 parallel inserts of one unique value',
    section: 'race',
    async run(subject) {
      const made = await inParallel(50, allStores(subject), (store, at) =>
        getNotes({ store }).insert(note(at + 1, { slug: 'one' })),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await getNotes(subject).count({ ownerId: 'alice' })).toBe(1);
    },
  },
  {
    name: 'gives one record to one of 50 parallel takes',
    section: 'race',
    async run(subject) {
      await fill(subject, [note(1)]);
      const taken = await inParallel(50, allStores(subject), (store) =>
        getNotes({ store }).take(getId(1), { ownerId: 'alice' }),
      );
      expect(taken.filter((record) => record !== undefined)).toHaveLength(1);
    },
  },
  {
    name: 'passes one of 50 parallel guarded updates of one state',
    section: 'race',
    async run(subject) {
      await fill(subject, [note(1, { title: 'pending' })]);
      const updated = await inParallel(50, allStores(subject), (store, at) =>
        getNotes({ store }).update(getId(1), { title: 'running', rank: at }, { title: 'pending' }),
      );
      const passed = updated.filter((record) => record !== undefined);
      expect(passed).toHaveLength(1);
      expect(await getNotes(subject).get(getId(1))).toEqual(passed[0]);
    },
  },
  {
    name: 'counts 100 parallel deltas and never passes a guard twice for one slot',
    section: 'race',
    async run(subject) {
      const wallets = getWallets(subject.store);
      await wallets.insert({ id: getId(1), ownerId: 'alice', coins: 0 });
      await inParallel(100, allStores(subject), (store) => getWallets(store).add(getId(1), { coins: 3 }));
      expect(await wallets.get(getId(1))).toMatchObject({ coins: 300 });
      const spent = await inParallel(100, allStores(subject), (store) =>
        getWallets(store).add(getId(1), { coins: -7 }, { coins: { gte: 7 } }),
      );
      expect(spent.filter((record) => record !== undefined)).toHaveLength(42);
      expect(await wallets.get(getId(1))).toMatchObject({ coins: 6 });
      const values = spent.flatMap((record) => record?.coins ?? []);
      expect(new Set(values).size).toBe(42);
    },
  },
  {
    name: 'keeps parallel updates of different fields',
    section: 'race',
    async run(subject) {
      await fill(subject, [note(1, { title: 'old', body: { text: 'old' }, rank: 1 })]);
      await inParallel(9, allStores(subject), async (store, at): Promise<unknown> => {
        const collection = getNotes({ store });
        if (at % 3 === 0) return collection.update(getId(1), { title: 'new' });
        if (at % 3 === 1) return collection.update(getId(1), { body: { text: 'new' } });
        return collection.add(getId(1), { rank: 5 });
      });
      expect(await getNotes(subject).get(getId(1))).toEqual(
        note(1, { title: 'new', body: { text: 'new' }, rank: 16 }),
      );
    },
  },
  {
    name: 'passes one of 20 parallel updates to one unique value',
    section: 'race',
    async run(subject) {
      await fill(
        subject,
        Array.from({ length: 20 }, (_, at) => note(at + 1)),
      );
      const updated = await inParallel(20, allStores(subject), (store, at) =>
        getNotes({ store })
          .update(getId(at + 1), { slug: 'one' })
          .catch(() => undefined),
      );
      expect(updated.filter((record) => record !== undefined)).toHaveLength(1);
      expect(await getNotes(subject).count({ slug: 'one' })).toBe(1);
    },
  },
];

export const abortCases: readonly StoreCase[] = WHEN.flatMap((when): StoreCase[] => [
  {
    name: `makes a write whole or not at all when aborted ${when} the call`,
    section: 'abort',
    async run(subject) {
      await fill(subject, [note(1, { rank: 1, title: 'old' }), note(2)]);
      const collection = getNotes(subject);
      const record = note(3, { slug: 'three', code: 'c3', tags: ['a'] });
      const inserted = await aborting(when, (signal) => collection.insert(record, { signal }));
      expect([undefined, record]).toContainEqual(await collection.get(getId(3)));
      if (inserted.isDone) expect(await collection.get(getId(3))).toEqual(record);
      const isIn = (await collection.get(getId(3))) !== undefined;
      expect(await collection.count({ slug: 'three' })).toBe(Number(isIn));
      expect(await collection.count({ tags: { has: 'a' } })).toBe(Number(isIn));

      const patch = { rank: 2, title: 'new' };
      await aborting(when, (signal) => collection.update(getId(1), patch, undefined, { signal }));
      expect([note(1, { rank: 1, title: 'old' }), note(1, patch)]).toContainEqual(
        await collection.get(getId(1)),
      );

      const taken = await aborting(when, (signal) => collection.take(getId(2), undefined, { signal }));
      if (taken.isDone) expect(await collection.get(getId(2))).toBeUndefined();
    },
  },
  {
    name: `makes a transaction whole or not at all when aborted ${when} the call`,
    section: 'abort',
    async run({ store }) {
      const attempt = await aborting(when, (signal) =>
        store.transaction(
          async (inside) => {
            await getNotes({ store: inside }).insert(note(1));
            await getWallets(inside).insert({ id: getId(2), ownerId: 'alice' });
          },
          { signal },
        ),
      );
      const counts = [await getNotes({ store }).count({}), await getWallets(store).count({})];
      expect([
        [0, 0],
        [1, 1],
      ]).toContainEqual(counts);
      if (attempt.isDone) expect(counts).toEqual([1, 1]);
      // The store continues in any case.
      expect(await getNotes({ store }).insert(note(3))).toBe(true);
    },
  },
]);
