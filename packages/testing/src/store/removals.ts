import type { Filter } from '@questline/core/ports';
import { removeWhere } from '@questline/core/ports';
import { expect } from 'vitest';
import { aborting, inParallel } from '../parallel.ts';
import { allStores, fill, getId, getNotes, getNumbers, type Note, note, type StoreCase } from './subject.ts';

const gone = new Error('changed my mind');

/** Notes 1 to `count`; odd ones have rank 1, even ones rank 0. */
function ranked(count: number): Note[] {
  return Array.from({ length: count }, (_, at) => note(at + 1, { rank: (at + 1) % 2, code: `c${at + 1}` }));
}

/** Cases of `removeWhere`; a store without it passes by finding and taking records. */
export const removalCases: readonly StoreCase[] = [
  {
    name: 'deletes the records that match and counts them',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, ranked(6));
      const collection = getNotes(subject);
      expect(await removeWhere(collection, { rank: 1, ownerId: 'bob' })).toBe(0);
      expect(await removeWhere(collection, { rank: 1, ownerId: 'alice' })).toBe(3);
      expect(getNumbers(await collection.find({}))).toEqual([2, 4, 6]);
      expect(await collection.get(getId(1))).toBeUndefined();
      expect(await removeWhere(collection, { id: { in: [getId(2), getId(3)] } })).toBe(1);
      // Unique values of deleted records are free.
      expect(await collection.insert(note(7, { code: 'c1' }))).toBe(true);
    },
  },
  {
    name: 'deletes at most the limit, and fewer only when no other record matches',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, ranked(10));
      const collection = getNotes(subject);
      expect(await removeWhere(collection, { rank: 1 }, { limit: 3 })).toBe(3);
      expect(await collection.count({ rank: 1 })).toBe(2);
      expect(await removeWhere(collection, { rank: 1 }, { limit: 3 })).toBe(2);
      expect(await removeWhere(collection, { rank: 1 }, { limit: 3 })).toBe(0);
      expect(await collection.count({ rank: 0 })).toBe(5);
    },
  },
  {
    name: 'deletes nothing for an undefined condition or a limit out of bounds',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, ranked(2));
      const collection = getNotes(subject);
      const withoutOwner = { ownerId: undefined } as unknown as Filter<Note>;
      await expect(removeWhere(collection, withoutOwner)).rejects.toThrow();
      await expect(removeWhere(collection, {}, { limit: 0 })).rejects.toThrow(RangeError);
      await expect(removeWhere(collection, {}, { limit: 1001 })).rejects.toThrow(RangeError);
      expect(await collection.count({})).toBe(2);
    },
  },
  {
    name: 'deletes within a transaction, and restores the records when the work rejects',
    section: 'behaviour',
    async run(subject) {
      const { store } = subject;
      await fill(subject, ranked(4));
      const doomed = store.transaction(async (inside) => {
        const collection = getNotes({ store: inside });
        await collection.insert(note(5, { rank: 1 }));
        expect(await removeWhere(collection, { rank: 1 })).toBe(3);
        expect(await collection.count({})).toBe(2);
        throw gone;
      });
      await expect(doomed).rejects.toBe(gone);
      expect(await getNotes(subject).count({})).toBe(4);
      await store.transaction((inside) => removeWhere(getNotes({ store: inside }), { rank: 1 }));
      expect(getNumbers(await getNotes(subject).find({}))).toEqual([2, 4]);
    },
  },
  {
    name: 'counts each of 60 deleted records for one of 20 parallel callers',
    section: 'race',
    async run(subject) {
      await fill(subject, ranked(60));
      const counts = await inParallel(20, allStores(subject), (store) =>
        removeWhere(getNotes({ store }), { ownerId: 'alice' }, { limit: 3 }),
      );
      expect(counts).toEqual(Array.from({ length: 20 }, () => 3));
      expect(await getNotes(subject).count({})).toBe(0);
    },
  },
  {
    name: 'deletes no record that a parallel update takes out of the filter',
    section: 'race',
    async run(subject) {
      await fill(
        subject,
        Array.from({ length: 20 }, (_, at) => note(at + 1, { rank: 1 })),
      );
      const done = await inParallel(40, allStores(subject), async (store, at) => {
        const collection = getNotes({ store });
        if (at % 10 === 5) return removeWhere(collection, { rank: 1 }, { limit: 4 });
        const updated = await collection.update(getId((at % 20) + 1), { rank: 2 }, { rank: 1 });
        return Number(updated !== undefined);
      });
      const left = await getNotes(subject).find({ rank: 1 });
      const total = done.reduce((sum, count) => sum + count, 0);
      expect(total + left.length).toBe(20);
    },
  },
  {
    name: 'deletes all or nothing when aborted during the call',
    section: 'abort',
    async run(subject) {
      await fill(subject, ranked(5));
      const collection = getNotes(subject);
      const attempt = await aborting('during', (signal) => removeWhere(collection, {}, { signal }));
      const left = await collection.count({});
      expect(collection.removeWhere === undefined ? [left] : [0, 5]).toContain(left);
      if (attempt.isDone) expect(left).toBe(0);
    },
  },
];
