import { expect } from 'vitest';
import { at, getIds, LAKE, makeChunk, type VectorsCase } from './subject.ts';

const section = 'behaviour';

/** Two lakes, three files, and tags. */
const SPREAD = [
  makeChunk('a', { fileId: 'one', tags: ['red', 'round'] }),
  makeChunk('b', { fileId: 'two', tags: ['red'] }),
  makeChunk('c', { fileId: 'two', tags: ['green'] }),
  makeChunk('d', { lakeId: 'other', fileId: 'three', tags: ['red'] }),
];

export const searchCases: readonly VectorsCase[] = [
  {
    section,
    name: 'returns the nearest results first with all their fields',
    async run({ vectors }) {
      await vectors.upsert([
        makeChunk('far', { vector: at(120) }),
        makeChunk('near', { vector: at(10), place: 3, tags: ['x', 'y'], text: 'Größe 🦔 "quoted"\n' }),
        makeChunk('middle', { vector: at(60) }),
      ]);
      const found = await vectors.nearest({ scope: LAKE, vector: [2, 0, 0], limit: 10 });
      expect(getIds(found)).toEqual(['near', 'middle', 'far']);
      expect(found[0]).toEqual({
        id: 'near',
        lakeId: 'lake',
        fileId: 'file',
        place: 3,
        text: 'Größe 🦔 "quoted"\n',
        tags: ['x', 'y'],
        score: expect.closeTo(Math.cos(Math.PI / 18), 5),
      });
      expect(found.map(({ score }) => score)).toEqual(
        [10, 60, 120].map((degrees) => expect.closeTo(Math.cos((degrees / 180) * Math.PI), 5)),
      );
    },
  },
  {
    section,
    name: 'compares by direction, not by length',
    async run({ vectors }) {
      await vectors.upsert([
        makeChunk('long', { vector: [0, 900, 0] }),
        makeChunk('short', { vector: [0.001, 0.0001, 0] }),
      ]);
      const found = await vectors.nearest({ scope: LAKE, vector: [5, 0, 0], limit: 2 });
      expect(getIds(found)).toEqual(['short', 'long']);
      expect(found[1]?.score).toBeCloseTo(0, 5);
    },
  },
  {
    section,
    name: 'returns at most the requested count and sorts equal scores by id',
    async run({ vectors }) {
      await vectors.upsert(['c', 'a', 'd', 'b'].map((id) => makeChunk(id)));
      await vectors.upsert([makeChunk('e', { vector: at(90) })]);
      const found = await vectors.nearest({ scope: LAKE, vector: at(0), limit: 5 });
      expect(getIds(found)).toEqual(['a', 'b', 'c', 'd', 'e']);
      expect(await vectors.nearest({ scope: LAKE, vector: at(90), limit: 1 })).toHaveLength(1);
    },
  },
  {
    section,
    name: 'returns nothing below the minimum score',
    async run({ vectors }) {
      await vectors.upsert(
        [0, 50, 70, 180].map((degrees) => makeChunk(`at${degrees}`, { vector: at(degrees) })),
      );
      const above = async (minScore: number) =>
        getIds(await vectors.nearest({ scope: LAKE, vector: at(0), limit: 9, minScore }));
      expect(await above(0.5)).toEqual(['at0', 'at50']);
      expect(await above(0)).toEqual(['at0', 'at50', 'at70']);
      expect(await above(-1)).toEqual(['at0', 'at50', 'at70', 'at180']);
      expect(await above(1.1)).toEqual([]);
    },
  },
  {
    section,
    name: 'searches only in the requested lakes and files',
    async run({ vectors }) {
      await vectors.upsert(SPREAD);
      const within = async (scope: Parameters<typeof vectors.nearest>[0]['scope']) => {
        const near = getIds(await vectors.nearest({ scope, vector: at(0), limit: 9 }));
        const words = getIds(await vectors.matching({ scope, vector: at(0), words: ['text'], limit: 9 }));
        expect(words).toEqual(near);
        return near;
      };
      expect(await within({ lakeIds: ['lake'] })).toEqual(['a', 'b', 'c']);
      expect(await within({ lakeIds: ['other', 'lake', 'lake', 'third'] })).toEqual(['a', 'b', 'c', 'd']);
      expect(await within({ lakeIds: [] })).toEqual([]);
      expect(await within({ lakeIds: ['lake', 'other'], fileIds: ['two', 'three'] })).toEqual([
        'b',
        'c',
        'd',
      ]);
      expect(await within({ lakeIds: ['lake'], fileIds: ['three'] })).toEqual([]);
      expect(await within({ lakeIds: ['lake'], fileIds: [] })).toEqual([]);
      expect(await within({ lakeIds: ['lake', 'other'], tags: ['round', 'green'] })).toEqual(['a', 'c']);
      expect(await within({ lakeIds: ['lake'], tags: ['red'], fileIds: ['two'] })).toEqual(['b']);
      expect(await within({ lakeIds: ['lake'], tags: ['re'] })).toEqual([]);
      expect(await within({ lakeIds: ['lake'], tags: [] })).toEqual([]);
    },
  },
  {
    section,
    name: 'compares only vectors of one length',
    async run({ vectors }) {
      await vectors.upsert([makeChunk('three'), makeChunk('two', { vector: [1, 0] })]);
      const found = async (vector: readonly number[]) => [
        getIds(await vectors.nearest({ scope: LAKE, vector, limit: 9 })),
        getIds(await vectors.matching({ scope: LAKE, vector, words: ['text'], limit: 9 })),
      ];
      expect(await found([0, 1])).toEqual([['two'], ['two']]);
      expect(await found([0, 1, 0])).toEqual([['three'], ['three']]);
      expect(await found([0, 1, 0, 0])).toEqual([[], []]);
    },
  },
  {
    section,
    name: 'ranks results with more of the words first',
    async run({ vectors }) {
      await vectors.upsert([
        makeChunk('both', { words: ['red', 'panda', 'x'], vector: at(180) }),
        makeChunk('one-b', { words: ['panda'], vector: at(60) }),
        makeChunk('one-a', { words: ['red', 'reds'], vector: at(0) }),
        makeChunk('none', { words: ['pand', 'redpanda'] }),
        makeChunk('odd', { words: ['größe', '東京', 'привет', '42', 'c'] }),
      ]);
      const found = async (words: readonly string[], limit = 9) =>
        vectors.matching({ scope: LAKE, vector: at(0), words, limit });
      const pandas = await found(['panda', 'red', 'panda']);
      expect(getIds(pandas)).toEqual(['both', 'one-a', 'one-b']);
      expect(pandas.map(({ score }) => score)).toEqual([-1, 1, 0.5].map((score) => expect.closeTo(score, 5)));
      expect(getIds(await found(['panda', 'red'], 2))).toEqual(['both', 'one-a']);
      expect(getIds(await found(['größe']))).toEqual(['odd']);
      expect(getIds(await found(['東京']))).toEqual(['odd']);
      expect(getIds(await found(['привет', '42']))).toEqual(['odd']);
      expect(getIds(await found(['grosse']))).toEqual([]);
      expect(getIds(await found([]))).toEqual([]);
      expect(getIds(await found(['"', 'a" OR "b', "'", '*', 'lake']))).toEqual([]);
    },
  },
];
