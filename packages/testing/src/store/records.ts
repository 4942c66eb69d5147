import type { Patch } from '@questline/core';
import { expect } from 'vitest';
import { fill, idOf, type Note, note, notesOf, type StoreCase, walletsOf } from './subject.ts';

const nested = {
  text: 'caf\u00e9 \u{1f30d}',
  list: [1, -2.5, null, [true, { deep: '' }]],
  empty: {},
  nothing: null,
};

export const recordCases: readonly StoreCase[] = [
  {
    name: 'a record comes back as it was put',
    section: 'behaviour',
    async run(subject) {
      const record = note(1, {
        title: 'It\u2019s "quoted" \\ and % and _',
        rank: -7,
        isPinned: false,
        tags: ['a', 'b c', 'd"e', 'f\\g', 'a,b', ''],
        slug: 'one',
        code: 'c1',
        createdAt: 1_790_000_000_123,
        body: nested,
      });
      expect(await notesOf(subject).insert(record)).toBe(true);
      expect(await notesOf(subject).get(record.id)).toEqual(record);
      expect(await notesOf(subject).find({ id: record.id })).toEqual([record]);
    },
  },
  {
    name: 'absent stays absent and null stays null',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { title: null }), note(2)]);
      expect(await notesOf(subject).get(idOf(1))).toHaveProperty('title', null);
      expect(await notesOf(subject).get(idOf(2))).not.toHaveProperty('title');
      expect(await notesOf(subject).get(idOf(2))).not.toHaveProperty('tags');
    },
  },
  {
    name: 'an unknown id is undefined, not an error',
    section: 'behaviour',
    async run(subject) {
      const collection = notesOf(subject);
      expect(await collection.get(idOf(9))).toBeUndefined();
      expect(await collection.update(idOf(9), { rank: 1 })).toBeUndefined();
      expect(await collection.add(idOf(9), { rank: 1 })).toBeUndefined();
      expect(await collection.take(idOf(9))).toBeUndefined();
      expect(await collection.get('no id at all')).toBeUndefined();
    },
  },
  {
    name: 'an id is taken once',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { title: 'first' })]);
      expect(await notesOf(subject).insert(note(1, { title: 'second' }))).toBe(false);
      expect(await notesOf(subject).get(idOf(1))).toMatchObject({ title: 'first' });
    },
  },
  {
    name: 'what is handed in can be changed without changing what is stored',
    section: 'behaviour',
    async run(subject) {
      const body = { list: ['stored'] };
      const tags = ['stored'];
      await fill(subject, [note(1, { body, tags })]);
      body.list.push('changed');
      tags.push('changed');
      expect(await notesOf(subject).get(idOf(1))).toMatchObject({
        body: { list: ['stored'] },
        tags: ['stored'],
      });
      const patch = { list: ['patched'] };
      await notesOf(subject).update(idOf(1), { body: patch });
      patch.list.push('changed');
      expect(await notesOf(subject).get(idOf(1))).toMatchObject({ body: { list: ['patched'] } });
    },
  },
  {
    name: 'what is handed out can be changed, if at all, without changing what is stored',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { body: { list: ['stored'] }, tags: ['stored'] })]);
      const collection = notesOf(subject);
      const handedOut = [
        await collection.get(idOf(1)),
        ...(await collection.find({})),
        await collection.update(idOf(1), { rank: 1 }),
        await collection.add(idOf(1), { rank: 1 }),
      ];
      for (const record of handedOut) {
        const open = record as unknown as { title: string; tags: string[]; body: { list: string[] } };
        for (const spoil of [
          () => open.tags.push('spoilt'),
          () => open.body.list.push('spoilt'),
          () => {
            open.title = 'spoilt';
          },
        ]) {
          try {
            spoil();
          } catch {
            // Frozen: that is one way to keep it.
          }
        }
      }
      const stored = await collection.get(idOf(1));
      expect(stored).toEqual(note(1, { body: { list: ['stored'] }, tags: ['stored'], rank: 2 }));
    },
  },
  {
    name: 'an update replaces the named fields and leaves the others',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { title: 'old', rank: 3, tags: ['a'], body: { a: 1, b: 2 } })]);
      const patch = { title: 'new', body: { a: 9 } };
      const updated = await notesOf(subject).update(idOf(1), patch);
      expect(updated).toEqual(note(1, { title: 'new', rank: 3, tags: ['a'], body: { a: 9 } }));
      expect(await notesOf(subject).get(idOf(1))).toEqual(updated);
    },
  },
  {
    name: 'an update removes what it sets to undefined',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { title: 'old', rank: 3, body: { a: 1 } })]);
      const patch: Patch<Note> = { title: undefined, body: undefined };
      const updated = await notesOf(subject).update(idOf(1), patch);
      expect(updated).not.toHaveProperty('title');
      expect(updated).not.toHaveProperty('body');
      expect(await notesOf(subject).get(idOf(1))).toEqual(note(1, { rank: 3 }));
      expect(await notesOf(subject).find({ title: 'old' })).toEqual([]);
      expect(await notesOf(subject).find({ title: null })).toHaveLength(1);
    },
  },
  {
    name: 'an update moves the record in every list it is asked by',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { rank: 1, tags: ['a', 'b'] }), note(2, { rank: 2, tags: ['b'] })]);
      await notesOf(subject).update(idOf(1), { rank: 3, tags: ['c'], ownerId: 'bob' });
      expect(await notesOf(subject).find({ tags: { has: 'a' } })).toEqual([]);
      expect(await notesOf(subject).count({ tags: { has: 'b' } })).toBe(1);
      expect(await notesOf(subject).count({ tags: { has: 'c' } })).toBe(1);
      expect(await notesOf(subject).count({ ownerId: 'alice' })).toBe(1);
      expect(await notesOf(subject).count({ ownerId: 'bob', rank: 3 })).toBe(1);
    },
  },
  {
    name: 'counters move by their deltas, an absent one from nothing',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { createdAt: 10 })]);
      expect(await notesOf(subject).add(idOf(1), { rank: 5, createdAt: -3 })).toEqual(
        note(1, { rank: 5, createdAt: 7 }),
      );
      expect(await notesOf(subject).add(idOf(1), { rank: -8 })).toMatchObject({ rank: -3 });
      expect(await notesOf(subject).get(idOf(1))).toEqual(note(1, { rank: -3, createdAt: 7 }));
      expect(await notesOf(subject).count({ rank: -3 })).toBe(1);
    },
  },
  {
    name: 'large counters stay whole',
    section: 'behaviour',
    async run(subject) {
      const large = Number.MAX_SAFE_INTEGER - 10;
      await fill(subject, [note(1, { rank: large, createdAt: -large })]);
      expect(await notesOf(subject).add(idOf(1), { rank: 9, createdAt: -9 })).toMatchObject({
        rank: large + 9,
        createdAt: -large - 9,
      });
      expect(await notesOf(subject).find({ rank: { gt: large + 8 } })).toHaveLength(1);
      expect(await notesOf(subject).find({ rank: { gt: large + 9 } })).toHaveLength(0);
    },
  },
  {
    name: 'taking hands the record over and removes it',
    section: 'behaviour',
    async run(subject) {
      const record = note(1, { slug: 'one', code: 'c1', tags: ['a'] });
      await fill(subject, [record]);
      expect(await notesOf(subject).take(idOf(1))).toEqual(record);
      expect(await notesOf(subject).get(idOf(1))).toBeUndefined();
      expect(await notesOf(subject).take(idOf(1))).toBeUndefined();
      expect(await notesOf(subject).find({ tags: { has: 'a' } })).toEqual([]);
      expect(await notesOf(subject).insert(record)).toBe(true);
    },
  },
  {
    name: 'collections know nothing of each other',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1)]);
      const { store } = subject;
      expect(await walletsOf(store).get(idOf(1))).toBeUndefined();
      expect(await walletsOf(store).insert({ id: idOf(1), ownerId: 'bob' })).toBe(true);
      expect(await notesOf(subject).get(idOf(1))).toEqual(note(1));
    },
  },
];
