import { expect } from 'vitest';
import { at, chunkOf, idsOf, LAKE, type VectorsCase } from './subject.ts';

const section = 'behaviour';
const ALL = { scope: LAKE, vector: at(0), limit: 99 } as const;

export const writeCases: readonly VectorsCase[] = [
  {
    section,
    name: 'replaces a chunk of the same id, words and lake included',
    async run({ vectors }) {
      await vectors.upsert([chunkOf('a', { words: ['old'], tags: ['old'] })]);
      await vectors.upsert([chunkOf('a', { words: ['new'], vector: at(90), text: 'now', place: 7 })]);
      expect(await vectors.nearest(ALL)).toEqual([
        {
          id: 'a',
          lakeId: 'lake',
          fileId: 'file',
          place: 7,
          text: 'now',
          tags: [],
          score: expect.closeTo(0, 5),
        },
      ]);
      expect(await vectors.matching({ ...ALL, words: ['old'] })).toEqual([]);
      expect(await vectors.matching({ ...ALL, words: ['new'] })).toHaveLength(1);

      await vectors.upsert([chunkOf('a', { lakeId: 'other' })]);
      expect(await vectors.nearest(ALL)).toEqual([]);
      expect(await vectors.count({ lakeId: 'lake' })).toBe(0);
      expect(await vectors.count({ lakeId: 'other' })).toBe(1);
    },
  },
  {
    section,
    name: 'writes all of a call or none of it',
    async run({ vectors }) {
      await vectors.upsert([chunkOf('a')]);
      for (const vector of [[], [0, 0, 0], [1, Number.NaN, 0], [Number.POSITIVE_INFINITY, 0, 0]]) {
        const chunks = [chunkOf('a', { text: 'changed' }), chunkOf('b'), chunkOf('c', { vector })];
        await expect(vectors.upsert(chunks)).rejects.toThrow(RangeError);
      }
      expect(await vectors.nearest(ALL)).toMatchObject([{ id: 'a', text: 'text of a' }]);
      await vectors.upsert([]);
    },
  },
  {
    section,
    name: 'removes a file, or a whole lake, and nothing else',
    async run({ vectors }) {
      await vectors.upsert([
        chunkOf('a', { fileId: 'one' }),
        chunkOf('b', { fileId: 'two' }),
        chunkOf('c', { lakeId: 'other', fileId: 'one' }),
      ]);
      await vectors.remove({ lakeId: 'lake', fileId: 'one' });
      expect(idsOf(await vectors.nearest(ALL))).toEqual(['b']);
      expect(idsOf(await vectors.matching({ ...ALL, words: ['text'] }))).toEqual(['b']);
      expect(await vectors.count({ lakeId: 'lake', fileId: 'one' })).toBe(0);
      expect(await vectors.count({ lakeId: 'other', fileId: 'one' })).toBe(1);

      await vectors.remove({ lakeId: 'lake' });
      await vectors.remove({ lakeId: 'lake' });
      await vectors.remove({ lakeId: 'never', fileId: 'was' });
      expect(await vectors.nearest(ALL)).toEqual([]);
      expect(await vectors.count({ lakeId: 'other' })).toBe(1);

      await vectors.upsert([chunkOf('a', { fileId: 'one' })]);
      expect(idsOf(await vectors.matching({ ...ALL, words: ['a'] }))).toEqual(['a']);
    },
  },
  {
    section,
    name: 'keeps many chunks of long vectors',
    async run({ vectors }) {
      const dimensions = 64;
      const count = 1100;
      const vectorOf = (index: number) =>
        Array.from({ length: dimensions }, (_, place) => Math.sin((index + 1) * (place + 1) * 0.37) + 0.01);
      for (let from = 0; from < count; from += 100) {
        await vectors.upsert(
          Array.from({ length: 100 }, (_, at) =>
            chunkOf(`chunk${String(from + at).padStart(4, '0')}`, {
              vector: vectorOf(from + at),
              place: from + at,
            }),
          ),
        );
      }
      expect(await vectors.count({ lakeId: 'lake' })).toBe(count);
      for (const wanted of [0, 777, count - 1]) {
        const [first] = await vectors.nearest({ scope: LAKE, vector: vectorOf(wanted), limit: 3 });
        expect(first).toMatchObject({ place: wanted, score: expect.closeTo(1, 4) });
      }
    },
  },
];
