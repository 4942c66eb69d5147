import type { Patch } from '@questline/core/ports';
import { expect } from 'vitest';
import { fill, getId, getNotes, getWallets, type Note, note, type StoreCase } from './subject.ts';

const nested = {
  text: 'caf\u00e9 \u{1f30d}',
  list: [1, -2.5, null, [true, { deep: '' }]],
  empty: {},
  nothing: null,
};

export const recordCases: readonly StoreCase[] = [
  {
    name: 'returns a record as it was put',
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
      expect(await getNotes(subject).insert(record)).toBe(true);
      expect(await getNotes(subject).get(record.id)).toEqual(record);
      expect(await getNotes(subject).find({ id: record.id })).toEqual([record]);
    },
  },
  {
    name: 'keeps absent and null apart',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { title: null }), note(2)]);
      expect(await getNotes(subject).get(getId(1))).toHaveProperty('title', null);
      expect(await getNotes(subject).get(getId(2))).not.toHaveProperty('title');
      expect(await getNotes(subject).get(getId(2))).not.toHaveProperty('tags');
    },
  },
  {
    name: 'returns undefined for an unknown id',
    section: 'behaviour',
    async run(subject) {
      const collection = getNotes(subject);
      expect(await collection.get(getId(9))).toBeUndefined();
      expect(await collection.update(getId(9), { rank: 1 })).toBeUndefined();
      expect(await collection.add(getId(9), { rank: 1 })).toBeUndefined();
      expect(await collection.take(getId(9))).toBeUndefined();
      expect(await collection.get('no id at all')).toBeUndefined();
    },
  },
  {
    name: 'rejects a second record under one id',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { title: 'first' })]);
      expect(await getNotes(subject).insert(note(1, { title: 'second' }))).toBe(false);
      expect(await getNotes(subject).get(getId(1))).toMatchObject({ title: 'first' });
    },
  },
  {
    name: 'keeps stored values when the caller changes a value passed in',
    section: 'behaviour',
    async run(subject) {
      const body = { list: ['stored'] };
      const tags = ['stored'];
      await fill(subject, [note(1, { body, tags })]);
      body.list.push('changed');
      tags.push('changed');
      expect(await getNotes(subject).get(getId(1))).toMatchObject({
        body: { list: ['stored'] },
        tags: ['stored'],
      });
      const patch = { list: ['patched'] };
      await getNotes(subject).update(getId(1), { body: patch });
      patch.list.push('changed');
      expect(await getNotes(subject).get(getId(1))).toMatchObject({ body: { list: ['patched'] } });
    },
  },
  {
    name: 'keeps stored values when the caller changes a returned value',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { body: { list: ['stored'] }, tags: ['stored'] })]);
      const collection = getNotes(subject);
      const handedOut = [
        await collection.get(getId(1)),
        ...(await collection.find({})),
        await collection.update(getId(1), { rank: 1 }),
        await collection.add(getId(1), { rank: 1 }),
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
      const stored = await collection.get(getId(1));
      expect(stored).toEqual(note(1, { body: { list: ['stored'] }, tags: ['stored'], rank: 2 }));
    },
  },
  {
    name: 'replaces the named fields on update and keeps the others',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { title: 'old', rank: 3, tags: ['a'], body: { a: 1, b: 2 } })]);
      const patch = { title: 'new', body: { a: 9 } };
      const updated = await getNotes(subject).update(getId(1), patch);
      expect(updated).toEqual(note(1, { title: 'new', rank: 3, tags: ['a'], body: { a: 9 } }));
      expect(await getNotes(subject).get(getId(1))).toEqual(updated);
    },
  },
  {
    name: 'removes a field that an update sets to undefined',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { title: 'old', rank: 3, body: { a: 1 } })]);
      const patch: Patch<Note> = { title: undefined, body: undefined };
      const updated = await getNotes(subject).update(getId(1), patch);
      expect(updated).not.toHaveProperty('title');
      expect(updated).not.toHaveProperty('body');
      expect(await getNotes(subject).get(getId(1))).toEqual(note(1, { rank: 3 }));
      expect(await getNotes(subject).find({ title: 'old' })).toEqual([]);
      expect(await getNotes(subject).find({ title: null })).toHaveLength(1);
    },
  },
  {
    name: 'moves an updated record in every list that contains it',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { rank: 1, tags: ['a', 'b'] }), note(2, { rank: 2, tags: ['b'] })]);
      await getNotes(subject).update(getId(1), { rank: 3, tags: ['c'], ownerId: 'bob' });
      expect(await getNotes(subject).find({ tags: { has: 'a' } })).toEqual([]);
      expect(await getNotes(subject).count({ tags: { has: 'b' } })).toBe(1);
      expect(await getNotes(subject).count({ tags: { has: 'c' } })).toBe(1);
      expect(await getNotes(subject).count({ ownerId: 'alice' })).toBe(1);
      expect(await getNotes(subject).count({ ownerId: 'bob', rank: 3 })).toBe(1);
    },
  },
  {
    name: 'changes counters by deltas, starting an absent one from zero',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { createdAt: 10 })]);
      expect(await getNotes(subject).add(getId(1), { rank: 5, createdAt: -3 })).toEqual(
        note(1, { rank: 5, createdAt: 7 }),
      );
      expect(await getNotes(subject).add(getId(1), { rank: -8 })).toMatchObject({ rank: -3 });
      expect(await getNotes(subject).get(getId(1))).toEqual(note(1, { rank: -3, createdAt: 7 }));
      expect(await getNotes(subject).count({ rank: -3 })).toBe(1);
    },
  },
  {
    name: 'keeps large counters exact',
    section: 'behaviour',
    async run(subject) {
      const large = Number.MAX_SAFE_INTEGER - 10;
      await fill(subject, [note(1, { rank: large, createdAt: -large })]);
      expect(await getNotes(subject).add(getId(1), { rank: 9, createdAt: -9 })).toMatchObject({
        rank: large + 9,
        createdAt: -large - 9,
      });
      expect(await getNotes(subject).find({ rank: { gt: large + 8 } })).toHaveLength(1);
      expect(await getNotes(subject).find({ rank: { gt: large + 9 } })).toHaveLength(0);
    },
  },
  {
    name: 'returns and removes a record on take',
    section: 'behaviour',
    async run(subject) {
      const record = note(1, { slug: 'one', code: 'c1', tags: ['a'] });
      await fill(subject, [record]);
      expect(await getNotes(subject).take(getId(1))).toEqual(record);
      expect(await getNotes(subject).get(getId(1))).toBeUndefined();
      expect(await getNotes(subject).take(getId(1))).toBeUndefined();
      expect(await getNotes(subject).find({ tags: { has: 'a' } })).toEqual([]);
      expect(await getNotes(subject).insert(record)).toBe(true);
    },
  },
  {
    name: 'keeps collections independent',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1)]);
      const { store } = subject;
      expect(await getWallets(store).get(getId(1))).toBeUndefined();
      expect(await getWallets(store).insert({ id: getId(1), ownerId: 'bob' })).toBe(true);
      expect(await getNotes(subject).get(getId(1))).toEqual(note(1));
    },
  },
];
