import type { Filter } from '@questline/core/ports';
import { expect } from 'vitest';
import {
  fill,
  getId,
  getNotes,
  getNumbers,
  type Note,
  note,
  type StoreCase,
  type StoreSubject,
} from './subject.ts';

async function found({ store }: StoreSubject, filter: Filter<Note>): Promise<number[]> {
  const records = await getNotes({ store }).find(filter);
  expect(await getNotes({ store }).count(filter)).toBe(records.length);
  return getNumbers(records);
}

/** A filter of a form the types forbid or cannot express for an optional field. */
const makeFilter = (filter: object) => filter as Filter<Note>;

export const listCases: readonly StoreCase[] = [
  {
    name: 'filters by equality, where null matches null and absent',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [
        note(1, { title: 'a', rank: 1, isPinned: true }),
        note(2, { title: 'A', rank: 0, isPinned: false }),
        note(3, { title: null, ownerId: 'bob' }),
        note(4, {}),
      ]);
      expect(await found(subject, {})).toEqual([1, 2, 3, 4]);
      expect(await found(subject, { title: 'a' })).toEqual([1]);
      expect(await found(subject, { rank: 0 })).toEqual([2]);
      expect(await found(subject, { isPinned: true })).toEqual([1]);
      expect(await found(subject, { isPinned: false })).toEqual([2]);
      expect(await found(subject, { title: null })).toEqual([3, 4]);
      expect(await found(subject, { isPinned: null })).toEqual([3, 4]);
      expect(await found(subject, { title: null, ownerId: 'alice' })).toEqual([4]);
      expect(await found(subject, { id: getId(2), ownerId: 'alice' })).toEqual([2]);
      expect(await found(subject, { id: getId(2), ownerId: 'bob' })).toEqual([]);
    },
  },
  {
    name: 'filters by not, which absent values match',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [
        note(1, { title: 'a' }),
        note(2, { title: 'b' }),
        note(3, { title: null }),
        note(4),
      ]);
      expect(await found(subject, { title: { not: 'a' } })).toEqual([2, 3, 4]);
      expect(await found(subject, { title: { not: null } })).toEqual([1, 2]);
      expect(await found(subject, { isPinned: { not: true } })).toEqual([1, 2, 3, 4]);
    },
  },
  {
    name: 'filters by one of several values, and by one of none',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(1, { rank: 1 }), note(2, { rank: 2 }), note(3, { rank: 3 }), note(4)]);
      expect(await found(subject, { rank: { in: [3, 1, 3, 9] } })).toEqual([1, 3]);
      expect(await found(subject, { rank: { in: [] } })).toEqual([]);
      expect(await found(subject, { id: { in: [getId(4), getId(2)] } })).toEqual([2, 4]);
      expect(await found(subject, { ownerId: { in: ['alice', 'bob'] }, rank: 2 })).toEqual([2]);
    },
  },
  {
    name: 'filters by ranges, which absent values never match',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [
        note(1, { rank: -1 }),
        note(2, { rank: 0 }),
        note(3, { rank: 1 }),
        note(4, { rank: 10 }),
        note(5),
      ]);
      expect(await found(subject, { rank: { lt: 1 } })).toEqual([1, 2]);
      expect(await found(subject, { rank: { lte: 1 } })).toEqual([1, 2, 3]);
      expect(await found(subject, { rank: { gt: 0 } })).toEqual([3, 4]);
      expect(await found(subject, { rank: { gte: 0 } })).toEqual([2, 3, 4]);
      expect(await found(subject, { ownerId: 'alice', rank: { gt: -1, lt: 10 } })).toEqual([2, 3]);
      expect(await found(subject, { rank: { gte: 2, lte: 1 } })).toEqual([]);
    },
  },
  {
    name: 'orders text by code point',
    section: 'behaviour',
    async run(subject) {
      const titles = ['B', 'a', '\u00e9', 'Z', 'aa', '\u{1f600}', '\uffee', '', 'a b', 'a-b', '\u{10000}'];
      await fill(
        subject,
        titles.map((title, at) => note(at + 1, { title })),
      );
      const byTitle = await getNotes(subject).find({}, { order: { field: 'title', direction: 'asc' } });
      expect(byTitle.map(({ title }) => title)).toEqual([
        '',
        'B',
        'Z',
        'a',
        'a b',
        'a-b',
        'aa',
        '\u00e9',
        '\uffee',
        '\u{10000}',
        '\u{1f600}',
      ]);
      expect(await found(subject, { title: { gt: 'Z', lt: 'aa' } })).toEqual([2, 9, 10]);
    },
  },
  {
    name: 'filters by substring, ignoring case and without patterns',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [
        note(1, { title: 'Quarterly Report' }),
        note(2, { title: 'report_2026' }),
        note(3, { title: '100% done' }),
        note(4, { title: 'back\\slash' }),
        note(5, { title: null }),
        note(6),
      ]);
      expect(await found(subject, { title: { contains: 'REPORT' } })).toEqual([1, 2]);
      expect(await found(subject, { title: { contains: '_' } })).toEqual([2]);
      expect(await found(subject, { title: { contains: '0%' } })).toEqual([3]);
      expect(await found(subject, { title: { contains: '%' } })).toEqual([3]);
      expect(await found(subject, { title: { contains: '\\' } })).toEqual([4]);
      expect(await found(subject, { title: { contains: 'y r' } })).toEqual([1]);
      expect(await found(subject, { title: { contains: '' } })).toEqual([1, 2, 3, 4]);
    },
  },
  {
    name: 'filters by whole members of a list',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [
        note(1, { tags: ['red', 'blue'] }),
        note(2, { tags: ['redder', 'it\u2019s "x"'] }),
        note(3, { tags: [] }),
        note(4),
        note(5, { tags: ['blue', 'blue', 'a%b'] }),
      ]);
      expect(await found(subject, { tags: { has: 'red' } })).toEqual([1]);
      expect(await found(subject, { tags: { has: 'blue' } })).toEqual([1, 5]);
      expect(await found(subject, { tags: { has: 'Blue' } })).toEqual([]);
      expect(await found(subject, { tags: { has: 'it\u2019s "x"' } })).toEqual([2]);
      expect(await found(subject, { tags: { has: 'a%b' } })).toEqual([5]);
      expect(await found(subject, { tags: { has: 'a' } })).toEqual([]);
      expect(await found(subject, { tags: { has: 'blue' }, ownerId: 'bob' })).toEqual([]);
    },
  },
  {
    name: 'combines alternatives with other conditions',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [
        note(1, { rank: 1 }),
        note(2, { rank: 2, ownerId: 'bob' }),
        note(3, { rank: 3, ownerId: 'carol', tags: ['for alice'] }),
        note(4, { rank: 4, ownerId: 'carol' }),
      ]);
      const readable = { anyOf: [{ ownerId: 'alice' }, { tags: { has: 'for alice' } }] };
      expect(await found(subject, readable)).toEqual([1, 3]);
      expect(await found(subject, { ...readable, rank: { gt: 1 } })).toEqual([3]);
      expect(await found(subject, { anyOf: [] })).toEqual([]);
      expect(await found(subject, { anyOf: [{}] })).toEqual([1, 2, 3, 4]);
      expect(await found(subject, { anyOf: [{ rank: 1 }, { rank: { in: [1, 2] } }] })).toEqual([1, 2]);
      expect(
        await found(subject, { anyOf: [{ rank: 4, anyOf: [{ ownerId: 'alice' }, { ownerId: 'carol' }] }] }),
      ).toEqual([4]);
      expect(await found(subject, { ownerId: 'bob', anyOf: [{ ownerId: 'alice' }] })).toEqual([]);
    },
  },
  {
    name: 'never interprets filter values as commands',
    section: 'behaviour',
    async run(subject) {
      const odd = `'; DROP TABLE suite_notes; -- $1 ? :a "x" {"$gt":""}`;
      await fill(subject, [note(1, { title: odd }), note(2, { title: 'plain' })]);
      expect(await found(subject, { title: odd })).toEqual([1]);
      expect(await found(subject, { title: { contains: odd } })).toEqual([1]);
      expect(await found(subject, { title: { in: [odd] } })).toEqual([1]);
      expect(await found(subject, { tags: { has: odd } })).toEqual([]);
      await expect(getNotes(subject).find(makeFilter({ [odd]: 1 }))).rejects.toThrow();
    },
  },
];
