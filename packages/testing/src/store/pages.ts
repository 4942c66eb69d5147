import type { FindOptions } from '@questline/core/ports';
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

const DIRECTIONS = ['asc', 'desc'] as const;

async function numbers({ store }: StoreSubject, options: FindOptions<Note>): Promise<number[]> {
  return getNumbers(await getNotes({ store }).find({ ownerId: 'alice' }, options));
}

export const pageCases: readonly StoreCase[] = [
  {
    name: 'sorts a list by id by default',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [note(3), note(1), note(2)]);
      expect(await numbers(subject, {})).toEqual([1, 2, 3]);
      expect(await numbers(subject, { order: { field: 'id', direction: 'desc' } })).toEqual([3, 2, 1]);
    },
  },
  {
    name: 'sorts by a field, then by id in the same direction',
    section: 'behaviour',
    async run(subject) {
      await fill(subject, [
        note(1, { createdAt: 5 }),
        note(2, { createdAt: 7 }),
        note(3, { createdAt: 5 }),
        note(4, { createdAt: 6 }),
        note(5, { createdAt: 5 }),
      ]);
      const order = (direction: 'asc' | 'desc') => ({ order: { field: 'createdAt' as const, direction } });
      expect(await numbers(subject, order('asc'))).toEqual([1, 3, 5, 4, 2]);
      expect(await numbers(subject, order('desc'))).toEqual([2, 4, 5, 3, 1]);
    },
  },
  {
    name: 'returns a page by limit and offset',
    section: 'behaviour',
    async run(subject) {
      await fill(
        subject,
        [1, 2, 3, 4, 5].map((at) => note(at)),
      );
      expect(await numbers(subject, { limit: 2 })).toEqual([1, 2]);
      expect(await numbers(subject, { limit: 2, offset: 2 })).toEqual([3, 4]);
      expect(await numbers(subject, { limit: 2, offset: 4 })).toEqual([5]);
      expect(await numbers(subject, { limit: 2, offset: 9 })).toEqual([]);
      const order = { field: 'createdAt' as const, direction: 'desc' as const };
      expect(await numbers(subject, { order, limit: 2, offset: 1 })).toEqual([4, 3]);
      expect(await numbers(subject, { offset: 3 })).toEqual([4, 5]);
    },
  },
  {
    name: 'visits every record once by keyset paging in both directions, also with equal values',
    section: 'behaviour',
    async run(subject) {
      const records = Array.from({ length: 23 }, (_, at) =>
        note(at + 1, { createdAt: 100 + (at % 4), rank: at, title: `t${at % 3}` }),
      );
      await fill(subject, [...records, note(99, { ownerId: 'bob', createdAt: 101, title: 't1' })]);
      for (const field of ['createdAt', 'title', 'rank', 'id'] as const) {
        for (const direction of DIRECTIONS) {
          const order = { field, direction };
          const seen: Note[] = [];
          for (let pages = 0; pages < 10; pages += 1) {
            const last = seen.at(-1);
            const page = await getNotes(subject).find(
              { ownerId: 'alice' },
              { order, limit: 5, ...(last && { after: { value: last[field] ?? '', id: last.id } }) },
            );
            if (page.length === 0) break;
            seen.push(...page);
          }
          expect(getNumbers(seen)).toEqual(await numbers(subject, { order }));
          expect(seen).toHaveLength(23);
        }
      }
    },
  },
  {
    name: 'keeps a keyset position when its record is removed',
    section: 'behaviour',
    async run(subject) {
      await fill(
        subject,
        [1, 2, 3, 4].map((at) => note(at, { createdAt: 10 * at })),
      );
      await getNotes(subject).take(getId(2));
      const order = { field: 'createdAt' as const, direction: 'asc' as const };
      expect(await numbers(subject, { order, after: { value: 20, id: getId(2) } })).toEqual([3, 4]);
      const down = { field: 'createdAt' as const, direction: 'desc' as const };
      expect(await numbers(subject, { order: down, after: { value: 20, id: getId(2) } })).toEqual([1]);
    },
  },
  {
    name: 'continues after the id alone where records are ordered by id, whatever the value of the position',
    section: 'behaviour',
    async run(subject) {
      await fill(
        subject,
        [1, 2, 3, 4].map((at) => note(at, { createdAt: 50 - at })),
      );
      for (const value of [getId(2), getId(4), getId(9), 'z', '', 0, 99]) {
        const after = { value, id: getId(2) };
        expect(await numbers(subject, { after })).toEqual([3, 4]);
        for (const [direction, expected] of [
          ['asc', [3, 4]],
          ['desc', [1]],
        ] as const) {
          expect(await numbers(subject, { order: { field: 'id', direction }, after })).toEqual(expected);
        }
      }
    },
  },
  {
    name: 'combines keyset paging with any filter',
    section: 'behaviour',
    async run(subject) {
      await fill(
        subject,
        Array.from({ length: 12 }, (_, at) => note(at + 1, { rank: at % 3, tags: at % 2 ? ['odd'] : [] })),
      );
      const order = { field: 'createdAt' as const, direction: 'desc' as const };
      const page = { order, limit: 2, after: { value: 10, id: getId(10) } };
      const find = async (filter: Parameters<ReturnType<typeof getNotes>['find']>[0]) =>
        getNumbers(await getNotes(subject).find(filter, page));
      expect(await find({ tags: { has: 'odd' } })).toEqual([8, 6]);
      expect(await find({ rank: { in: [0, 1] } })).toEqual([8, 7]);
      expect(await find({ anyOf: [{ rank: 2 }, { tags: { has: 'odd' } }] })).toEqual([9, 8]);
      expect(await find({ createdAt: { lte: 5 } })).toEqual([5, 4]);
      expect(await find({ createdAt: 10 })).toEqual([]);
      expect(await find({ createdAt: 9 })).toEqual([9]);
    },
  },
  {
    name: 'limits a list to a thousand records',
    section: 'behaviour',
    async run(subject) {
      await Promise.all(Array.from({ length: 1005 }, (_, at) => getNotes(subject).insert(note(at + 1))));
      expect(await getNotes(subject).find({ ownerId: 'alice' })).toHaveLength(1000);
      expect(await getNotes(subject).find({ ownerId: 'alice' }, { limit: 1000 })).toHaveLength(1000);
      expect(await getNotes(subject).find({ ownerId: 'alice' }, { offset: 1000 })).toHaveLength(5);
      expect(await getNotes(subject).count({ ownerId: 'alice' })).toBe(1005);
    },
  },
];
