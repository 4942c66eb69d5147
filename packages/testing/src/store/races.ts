import { expect } from 'vitest';
import { aborting, inParallel } from '../parallel.ts';
import { allStores, fill, idOf, note, notesOf, type StoreCase, walletsOf } from './subject.ts';

const WHEN = ['before', 'during'] as const;

export const raceCases: readonly StoreCase[] = [
  {
    name: 'of 50 parallel inserts of one id, one goes in',
    section: 'race',
    async run(subject) {
      const made = await inParallel(50, allStores(subject), (store, at) =>
        notesOf({ store }).insert(note(1, { rank: at })),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await notesOf(subject).get(idOf(1))).toMatchObject({ rank: made.indexOf(true) });
    },
  },
  {
    name: 'of 50 parallel inserts of one unique value, one goes in',
    section: 'race',
    async run(subject) {
      const made = await inParallel(50, allStores(subject), (store, at) =>
        notesOf({ store }).insert(note(at + 1, { slug: 'one' })),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await notesOf(subject).count({ ownerId: 'alice' })).toBe(1);
    },
  },
  {
    name: 'of 50 parallel takers of one record, one gets it',
    section: 'race',
    async run(subject) {
      await fill(subject, [note(1)]);
      const taken = await inParallel(50, allStores(subject), (store) =>
        notesOf({ store }).take(idOf(1), { ownerId: 'alice' }),
      );
      expect(taken.filter((record) => record !== undefined)).toHaveLength(1);
    },
  },
  {
    name: 'of 50 parallel guarded updates of one state, one passes',
    section: 'race',
    async run(subject) {
      await fill(subject, [note(1, { title: 'pending' })]);
      const updated = await inParallel(50, allStores(subject), (store, at) =>
        notesOf({ store }).update(idOf(1), { title: 'running', rank: at }, { title: 'pending' }),
      );
      const passed = updated.filter((record) => record !== undefined);
      expect(passed).toHaveLength(1);
      expect(await notesOf(subject).get(idOf(1))).toEqual(passed[0]);
    },
  },
  {
    name: '100 parallel deltas all count, and a guard is never passed by two for one place',
    section: 'race',
    async run(subject) {
      const wallets = walletsOf(subject.store);
      await wallets.insert({ id: idOf(1), ownerId: 'alice', coins: 0 });
      await inParallel(100, allStores(subject), (store) => walletsOf(store).add(idOf(1), { coins: 3 }));
      expect(await wallets.get(idOf(1))).toMatchObject({ coins: 300 });
      const spent = await inParallel(100, allStores(subject), (store) =>
        walletsOf(store).add(idOf(1), { coins: -7 }, { coins: { gte: 7 } }),
      );
      expect(spent.filter((record) => record !== undefined)).toHaveLength(42);
      expect(await wallets.get(idOf(1))).toMatchObject({ coins: 6 });
      const values = spent.flatMap((record) => record?.coins ?? []);
      expect(new Set(values).size).toBe(42);
    },
  },
  {
    name: 'parallel updates of different fields keep each other',
    section: 'race',
    async run(subject) {
      await fill(subject, [note(1, { title: 'old', body: { text: 'old' }, rank: 1 })]);
      await inParallel(9, allStores(subject), async (store, at): Promise<unknown> => {
        const collection = notesOf({ store });
        if (at % 3 === 0) return collection.update(idOf(1), { title: 'new' });
        if (at % 3 === 1) return collection.update(idOf(1), { body: { text: 'new' } });
        return collection.add(idOf(1), { rank: 5 });
      });
      expect(await notesOf(subject).get(idOf(1))).toEqual(
        note(1, { title: 'new', body: { text: 'new' }, rank: 16 }),
      );
    },
  },
  {
    name: 'of 20 parallel updates to one unique value, one passes',
    section: 'race',
    async run(subject) {
      await fill(
        subject,
        Array.from({ length: 20 }, (_, at) => note(at + 1)),
      );
      const updated = await inParallel(20, allStores(subject), (store, at) =>
        notesOf({ store })
          .update(idOf(at + 1), { slug: 'one' })
          .catch(() => undefined),
      );
      expect(updated.filter((record) => record !== undefined)).toHaveLength(1);
      expect(await notesOf(subject).count({ slug: 'one' })).toBe(1);
    },
  },
];

export const abortCases: readonly StoreCase[] = WHEN.flatMap((when): StoreCase[] => [
  {
    name: `a write aborted ${when} the call is made whole or not at all`,
    section: 'abort',
    async run(subject) {
      await fill(subject, [note(1, { rank: 1, title: 'old' }), note(2)]);
      const collection = notesOf(subject);
      const record = note(3, { slug: 'three', code: 'c3', tags: ['a'] });
      const inserted = await aborting(when, (signal) => collection.insert(record, { signal }));
      expect([undefined, record]).toContainEqual(await collection.get(idOf(3)));
      if (inserted.isDone) expect(await collection.get(idOf(3))).toEqual(record);
      const isIn = (await collection.get(idOf(3))) !== undefined;
      expect(await collection.count({ slug: 'three' })).toBe(Number(isIn));
      expect(await collection.count({ tags: { has: 'a' } })).toBe(Number(isIn));

      const patch = { rank: 2, title: 'new' };
      await aborting(when, (signal) => collection.update(idOf(1), patch, undefined, { signal }));
      expect([note(1, { rank: 1, title: 'old' }), note(1, patch)]).toContainEqual(
        await collection.get(idOf(1)),
      );

      const taken = await aborting(when, (signal) => collection.take(idOf(2), undefined, { signal }));
      if (taken.isDone) expect(await collection.get(idOf(2))).toBeUndefined();
    },
  },
  {
    name: `a transaction aborted ${when} the call is made whole or not at all`,
    section: 'abort',
    async run({ store }) {
      const attempt = await aborting(when, (signal) =>
        store.transaction(
          async (inside) => {
            await notesOf({ store: inside }).insert(note(1));
            await walletsOf(inside).insert({ id: idOf(2), ownerId: 'alice' });
          },
          { signal },
        ),
      );
      const counts = [await notesOf({ store }).count({}), await walletsOf(store).count({})];
      expect([
        [0, 0],
        [1, 1],
      ]).toContainEqual(counts);
      if (attempt.isDone) expect(counts).toEqual([1, 1]);
      // Whatever became of it, the store goes on.
      expect(await notesOf({ store }).insert(note(3))).toBe(true);
    },
  },
]);
