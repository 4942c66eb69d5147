import type { Filter } from '@questline/core/ports';
import { isUniqueViolation } from '@questline/core/ports';
import { expect } from 'vitest';
import { fill, getId, getNotes, type Note, note, type StoreCase } from './subject.ts';

/** Filters with a missing owner that the types did not prevent. */
const withoutOwner = { ownerId: undefined } as unknown as Filter<Note>;

export const guardCases: readonly StoreCase[] = [
  {
    name: 'treats a record as unknown for every method when a guard fails',
    section: 'behaviour',
    async run(subject) {
      const record = note(1, { rank: 5 });
      await fill(subject, [record]);
      const collection = getNotes(subject);
      const bobs = { ownerId: 'bob' };
      expect(await collection.get(getId(1), bobs)).toBeUndefined();
      expect(await collection.update(getId(1), { rank: 6 }, bobs)).toBeUndefined();
      expect(await collection.add(getId(1), { rank: 1 }, bobs)).toBeUndefined();
      expect(await collection.take(getId(1), bobs)).toBeUndefined();
      expect(await collection.get(getId(1))).toEqual(record);
    },
  },
  {
    name: 'lets every method pass when a guard holds',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { rank: 5 })]);
      const collection = getNotes(subject);
      const own = { ownerId: 'alice' };
      expect(await collection.get(getId(1), own)).toMatchObject({ rank: 5 });
      expect(await collection.update(getId(1), { rank: 6 }, { ...own, rank: 5 })).toMatchObject({ rank: 6 });
      expect(await collection.update(getId(1), { rank: 7 }, { ...own, rank: 5 })).toBeUndefined();
      expect(await collection.add(getId(1), { rank: 1 }, { rank: { lt: 7 } })).toMatchObject({ rank: 7 });
      expect(await collection.add(getId(1), { rank: 1 }, { rank: { lt: 7 } })).toBeUndefined();
      expect(await collection.take(getId(1), { ...own, rank: 7 })).toMatchObject({ rank: 7 });
    },
  },
  {
    name: 'accepts alternatives in a guard',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { tags: ['for bob'] })]);
      const readers = (name: string): Filter<Note> => ({
        anyOf: [{ ownerId: name }, { tags: { has: `for ${name}` } }],
      });
      expect(await getNotes(subject).get(getId(1), readers('alice'))).toBeDefined();
      expect(await getNotes(subject).get(getId(1), readers('bob'))).toBeDefined();
      expect(await getNotes(subject).get(getId(1), readers('carol'))).toBeUndefined();
      expect(await getNotes(subject).get(getId(1), { anyOf: [] })).toBeUndefined();
    },
  },
  {
    name: 'rejects an undefined condition instead of ignoring it',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { rank: 1 })]);
      const collection = getNotes(subject);
      await expect(collection.find(withoutOwner)).rejects.toThrow();
      await expect(collection.count(withoutOwner)).rejects.toThrow();
      await expect(collection.get(getId(1), withoutOwner)).rejects.toThrow();
      await expect(collection.update(getId(1), { rank: 2 }, withoutOwner)).rejects.toThrow();
      await expect(collection.add(getId(1), { rank: 2 }, withoutOwner)).rejects.toThrow();
      await expect(collection.take(getId(1), withoutOwner)).rejects.toThrow();
      await expect(collection.find({ anyOf: [withoutOwner] })).rejects.toThrow();
      expect(await collection.get(getId(1))).toEqual(note(1, { rank: 1 }));
    },
  },
  {
    name: 'filters by columns only',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { body: 'text' })]);
      const collection = getNotes(subject);
      await expect(collection.find({ body: 'text' })).rejects.toThrow();
      await expect(collection.get(getId(1), { body: 'text' })).rejects.toThrow();
      await expect(collection.find({}, { order: { field: 'body', direction: 'asc' } })).rejects.toThrow();
    },
  },
  {
    name: 'rejects a second record under a unique rule',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { slug: 'one', code: 'c1' })]);
      const collection = getNotes(subject);
      expect(await collection.insert(note(2, { slug: 'one' }))).toBe(false);
      expect(await collection.insert(note(3, { code: 'c1' }))).toBe(false);
      expect(await collection.count({})).toBe(1);
      expect(await collection.insert(note(4, { slug: 'one', ownerId: 'bob' }))).toBe(true);
      expect(await collection.insert(note(5, { slug: 'One' }))).toBe(true);
    },
  },
  {
    name: 'treats null and absent as unequal under a unique rule',
    section: 'behaviour',
    async run(subject) {
      const records = [note(1), note(2), note(3, { slug: null }), note(4, { slug: null })];
      for (const record of records) expect(await getNotes(subject).insert(record)).toBe(true);
    },
  },
  {
    name: 'rejects an update that would break a unique rule as a whole',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { slug: 'one' }), note(2, { slug: 'two', rank: 2 })]);
      const collection = getNotes(subject);
      const error = await collection
        .update(getId(2), { slug: 'one', rank: 9 })
        .catch((caught: unknown) => caught);
      expect(isUniqueViolation(error)).toBe(true);
      expect(await collection.get(getId(2))).toEqual(note(2, { slug: 'two', rank: 2 }));
      expect(await collection.update(getId(2), { slug: 'two', rank: 3 })).toMatchObject({ rank: 3 });
    },
  },
  {
    name: 'frees a unique value when its record gives it up',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { slug: 'one' }), note(2, { slug: 'two' })]);
      const collection = getNotes(subject);
      await collection.update(getId(1), { slug: 'free' });
      expect(await collection.update(getId(2), { slug: 'one' })).toMatchObject({ slug: 'one' });
      await collection.take(getId(2));
      expect(await collection.insert(note(3, { slug: 'one' }))).toBe(true);
      await collection.update(getId(1), { slug: undefined });
      expect(await collection.insert(note(4, { slug: 'free' }))).toBe(true);
    },
  },
];
