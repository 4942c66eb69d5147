import type { Filter } from '@questline/core';
import { isUniqueViolation } from '@questline/core';
import { expect } from 'vitest';
import { fill, idOf, type Note, note, notesOf, type StoreCase } from './subject.ts';

/** What reaches a store when a caller forgot the owner, and no type noticed. */
const withoutOwner = { ownerId: undefined } as unknown as Filter<Note>;

export const guardCases: readonly StoreCase[] = [
  {
    name: 'a guard that does not hold makes a record unknown, to every verb',
    section: 'behaviour',
    async run(subject) {
      const record = note(1, { rank: 5 });
      await fill(subject, [record]);
      const collection = notesOf(subject);
      const bobs = { ownerId: 'bob' };
      expect(await collection.get(idOf(1), bobs)).toBeUndefined();
      expect(await collection.update(idOf(1), { rank: 6 }, bobs)).toBeUndefined();
      expect(await collection.add(idOf(1), { rank: 1 }, bobs)).toBeUndefined();
      expect(await collection.take(idOf(1), bobs)).toBeUndefined();
      expect(await collection.get(idOf(1))).toEqual(record);
    },
  },
  {
    name: 'a guard that holds lets every verb through',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { rank: 5 })]);
      const collection = notesOf(subject);
      const own = { ownerId: 'alice' };
      expect(await collection.get(idOf(1), own)).toMatchObject({ rank: 5 });
      expect(await collection.update(idOf(1), { rank: 6 }, { ...own, rank: 5 })).toMatchObject({ rank: 6 });
      expect(await collection.update(idOf(1), { rank: 7 }, { ...own, rank: 5 })).toBeUndefined();
      expect(await collection.add(idOf(1), { rank: 1 }, { rank: { lt: 7 } })).toMatchObject({ rank: 7 });
      expect(await collection.add(idOf(1), { rank: 1 }, { rank: { lt: 7 } })).toBeUndefined();
      expect(await collection.take(idOf(1), { ...own, rank: 7 })).toMatchObject({ rank: 7 });
    },
  },
  {
    name: 'a guard may hold alternatives',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { tags: ['for bob'] })]);
      const readers = (name: string): Filter<Note> => ({
        anyOf: [{ ownerId: name }, { tags: { has: `for ${name}` } }],
      });
      expect(await notesOf(subject).get(idOf(1), readers('alice'))).toBeDefined();
      expect(await notesOf(subject).get(idOf(1), readers('bob'))).toBeDefined();
      expect(await notesOf(subject).get(idOf(1), readers('carol'))).toBeUndefined();
      expect(await notesOf(subject).get(idOf(1), { anyOf: [] })).toBeUndefined();
    },
  },
  {
    name: 'a condition that is undefined is refused, not left out',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { rank: 1 })]);
      const collection = notesOf(subject);
      await expect(collection.find(withoutOwner)).rejects.toThrow();
      await expect(collection.count(withoutOwner)).rejects.toThrow();
      await expect(collection.get(idOf(1), withoutOwner)).rejects.toThrow();
      await expect(collection.update(idOf(1), { rank: 2 }, withoutOwner)).rejects.toThrow();
      await expect(collection.add(idOf(1), { rank: 2 }, withoutOwner)).rejects.toThrow();
      await expect(collection.take(idOf(1), withoutOwner)).rejects.toThrow();
      await expect(collection.find({ anyOf: [withoutOwner] })).rejects.toThrow();
      expect(await collection.get(idOf(1))).toEqual(note(1, { rank: 1 }));
    },
  },
  {
    name: 'only columns can be asked for',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { body: 'text' })]);
      const collection = notesOf(subject);
      await expect(collection.find({ body: 'text' })).rejects.toThrow();
      await expect(collection.get(idOf(1), { body: 'text' })).rejects.toThrow();
      await expect(collection.find({}, { order: { field: 'body', direction: 'asc' } })).rejects.toThrow();
    },
  },
  {
    name: 'a unique rule keeps a second record out',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { slug: 'one', code: 'c1' })]);
      const collection = notesOf(subject);
      expect(await collection.insert(note(2, { slug: 'one' }))).toBe(false);
      expect(await collection.insert(note(3, { code: 'c1' }))).toBe(false);
      expect(await collection.count({})).toBe(1);
      expect(await collection.insert(note(4, { slug: 'one', ownerId: 'bob' }))).toBe(true);
      expect(await collection.insert(note(5, { slug: 'One' }))).toBe(true);
    },
  },
  {
    name: 'null and absent agree with nothing',
    section: 'behaviour',
    async run(subject) {
      const records = [note(1), note(2), note(3, { slug: null }), note(4, { slug: null })];
      for (const record of records) expect(await notesOf(subject).insert(record)).toBe(true);
    },
  },
  {
    name: 'an update that would break a unique rule is refused whole',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { slug: 'one' }), note(2, { slug: 'two', rank: 2 })]);
      const collection = notesOf(subject);
      const error = await collection
        .update(idOf(2), { slug: 'one', rank: 9 })
        .catch((caught: unknown) => caught);
      expect(isUniqueViolation(error)).toBe(true);
      expect(await collection.get(idOf(2))).toEqual(note(2, { slug: 'two', rank: 2 }));
      expect(await collection.update(idOf(2), { slug: 'two', rank: 3 })).toMatchObject({ rank: 3 });
    },
  },
  {
    name: 'a unique value is free again once its holder has let go of it',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { slug: 'one' }), note(2, { slug: 'two' })]);
      const collection = notesOf(subject);
      await collection.update(idOf(1), { slug: 'free' });
      expect(await collection.update(idOf(2), { slug: 'one' })).toMatchObject({ slug: 'one' });
      await collection.take(idOf(2));
      expect(await collection.insert(note(3, { slug: 'one' }))).toBe(true);
      await collection.update(idOf(1), { slug: undefined });
      expect(await collection.insert(note(4, { slug: 'free' }))).toBe(true);
    },
  },
];
