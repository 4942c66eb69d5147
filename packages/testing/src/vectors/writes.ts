import { expect } from 'vitest';
import { at, getIds, LAKE, makeChunk, type VectorsCase } from './subject.ts';

const section = 'behaviour';
const ALL = { scope: LAKE, vector: at(0), limit: 99 } as const;

export const writeCases: readonly VectorsCase[] = [
  {
    section,
    name: 'replaces a chunk of the same id, including its words and lake',
    async run({ vectors }) {
      await vectors.upsert([makeChunk('a', { words: ['old'], tags: ['old'] })]);
      await vectors.upsert([makeChunk('a', { words: ['new'], vector: at(90), text: 'now', place: 7 })]);
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

      await vectors.upsert([makeChunk('a', { lakeId: 'other' })]);
      expect(await vectors.nearest(ALL)).toEqual([]);
      expect(await vectors.count({ lakeId: 'lake' })).toBe(0);
      expect(await vectors.count({ lakeId: 'other' })).toBe(1);
    },
  },
  {
    section,
    name: 'writes all chunks of a call or none',
    async run({ vectors }) {
      await vectors.upsert([makeChunk('a')]);
      for (const vector of [[], [0, 0, 0], [1, Number.NaN, 0], [Number.POSITIVE_INFINITY, 0, 0]]) {
        const chunks = [makeChunk('a', { text: 'changed' }), makeChunk('b'), makeChunk('c', { vector })];
        await expect(vectors.upsert(chunks)).rejects.toThrow(RangeError);
      }
      expect(await vectors.nearest(ALL)).toMatchObject([{ id: 'a', text: 'text of a' }]);
      await vectors.upsert([]);
    },
  },
  {
    section,
    name: 'removes only the requested file or lake',
    async run({ vectors }) {
      await vectors.upsert([
        makeChunk('a', { fileId: 'one' }),
        makeChunk('b', { fileId: 'two' }),
        makeChunk('c', { lakeId: 'other', fileId: 'one' }),
      ]);
      await vectors.remove({ lakeId: 'lake', fileId: 'one' });
      expect(getIds(await vectors.nearest(ALL))).toEqual(['b']);
      expect(getIds(await vectors.matching({ ...ALL, words: ['text'] }))).toEqual(['b']);
      expect(await vectors.count({ lakeId: 'lake', fileId: 'one' })).toBe(0);
      expect(await vectors.count({ lakeId: 'other', fileId: 'one' })).toBe(1);

      await vectors.remove({ lakeId: 'lake' });
      await vectors.remove({ lakeId: 'lake' });
      await vectors.remove({ lakeId: 'never', fileId: 'was' });
      expect(await vectors.nearest(ALL)).toEqual([]);
      expect(await vectors.count({ lakeId: 'other' })).toBe(1);

      await vectors.upsert([makeChunk('a', { fileId: 'one' })]);
      expect(getIds(await vectors.matching({ ...ALL, words: ['a'] }))).toEqual(['a']);
    },
  },
  {
    section,
    name: 'stores many chunks of long vectors',
    async run({ vectors }) {
      const dimensions = 64;
      const count = 1100;
      const makeVector = (index: number) =>
        Array.from({ length: dimensions }, (_, place) => Math.sin((index + 1) * (place + 1) * 0.37) + 0.01);
      for (let from = 0; from < count; from += 100) {
        await vectors.upsert(
          Array.from({ length: 100 }, (_, at) =>
            makeChunk(`chunk${String(from + at).padStart(4, '0')}`, {
              vector: makeVector(from + at),
              place: from + at,
            }),
          ),
        );
      }
      expect(await vectors.count({ lakeId: 'lake' })).toBe(count);
      for (const wanted of [0, 777, count - 1]) {
        const [first] = await vectors.nearest({ scope: LAKE, vector: makeVector(wanted), limit: 3 });
        expect(first).toMatchObject({ place: wanted, score: expect.closeTo(1, 4) });
      }
    },
  },
];
