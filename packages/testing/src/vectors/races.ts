import { createMemoryVectors } from '@questline/core/memory';
import fc from 'fast-check';
import { expect } from 'vitest';
import { getRuns } from '../suite.ts';
import { allIndexes, at, getIds, LAKE, makeChunk, type VectorsCase } from './subject.ts';

const ALL = { scope: LAKE, vector: at(0), limit: 999 } as const;

export const raceCases: readonly VectorsCase[] = [
  {
    section: 'race',
    name: 'leaves one whole version of each chunk after parallel writes',
    async run(subject) {
      const indexes = allIndexes(subject);
      const ids = Array.from({ length: 20 }, (_, index) => `chunk${index}`);
      await Promise.all(
        Array.from({ length: 10 }, (_, writer) =>
          indexes[writer % indexes.length]?.upsert(
            ids.map((id) => makeChunk(id, { text: `by ${writer}`, words: [`by${writer}`], place: writer })),
          ),
        ),
      );
      const found = await subject.vectors.nearest(ALL);
      expect(getIds(found).toSorted()).toEqual(ids.toSorted());
      expect(await subject.vectors.count({ lakeId: 'lake' })).toBe(ids.length);
      for (const { text, place } of found) expect(text).toBe(`by ${place}`);
      for (let writer = 0; writer < 10; writer += 1) {
        const matched = await subject.vectors.matching({ ...ALL, words: [`by${writer}`] });
        expect(getIds(matched).toSorted()).toEqual(
          getIds(found.filter(({ place }) => place === writer)).toSorted(),
        );
      }
    },
  },
  {
    section: 'race',
    name: 'removes exactly the requested chunks while others write',
    async run(subject) {
      const indexes = allIndexes(subject);
      const makeFile = (index: number) => `file${index % 5}`;
      const chunks = Array.from({ length: 50 }, (_, index) =>
        makeChunk(`c${index}`, { fileId: makeFile(index) }),
      );
      await subject.vectors.upsert(chunks.filter(({ fileId }) => fileId === 'file0'));
      await Promise.all([
        subject.vectors.remove({ lakeId: 'lake', fileId: 'file0' }),
        ...chunks
          .filter(({ fileId }) => fileId !== 'file0')
          .map((chunk, index) => indexes[index % indexes.length]?.upsert([chunk])),
      ]);
      expect(await subject.vectors.count({ lakeId: 'lake' })).toBe(40);
      expect(await subject.vectors.count({ lakeId: 'lake', fileId: 'file0' })).toBe(0);
      expect(await subject.vectors.nearest(ALL)).toHaveLength(40);
    },
  },
];

export const abortCases: readonly VectorsCase[] = [
  {
    section: 'abort',
    name: 'changes nothing for a call aborted before its start',
    async run({ vectors }) {
      await vectors.upsert([makeChunk('a')]);
      const options = { signal: AbortSignal.abort(new Error('given up')) };
      await expect(vectors.upsert([makeChunk('b')], options)).rejects.toThrow('given up');
      await expect(vectors.remove({ lakeId: 'lake' }, options)).rejects.toThrow('given up');
      await expect(vectors.nearest(ALL, options)).rejects.toThrow('given up');
      await expect(vectors.matching({ ...ALL, words: ['text'] }, options)).rejects.toThrow('given up');
      await expect(vectors.count({ lakeId: 'lake' }, options)).rejects.toThrow('given up');
      expect(getIds(await vectors.nearest(ALL))).toEqual(['a']);
    },
  },
];

const word = fc.constantFrom('red', 'green', 'blue');
const lakeId = fc.constantFrom('one', 'two');
const fileId = fc.constantFrom('x', 'y');
const chunk = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
    lakeId,
    fileId,
    words: fc.uniqueArray(word),
    tags: fc.uniqueArray(word),
    // Whole degrees: differences that no engine's rounding reorders, unless they are equal.
    degrees: fc.integer({ min: 0, max: 180 }),
  })
  .map(({ degrees, ...about }) => makeChunk(about.id, { ...about, vector: at(degrees) }));

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ verb: fc.constant('upsert' as const), chunks: fc.array(chunk, { maxLength: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ verb: fc.constant('remove' as const), lakeId, fileId: fc.option(fileId) }),
  },
);

const look = fc.record({
  lakeIds: fc.uniqueArray(lakeId),
  fileIds: fc.option(fc.uniqueArray(fileId), { nil: undefined }),
  tags: fc.option(fc.uniqueArray(word), { nil: undefined }),
  words: fc.uniqueArray(word),
  // From either end every degree has a distance of its own.
  degrees: fc.constantFrom(0, 180),
  limit: fc.integer({ min: 1, max: 8 }),
});

export const randomCases: readonly VectorsCase[] = [
  {
    section: 'random',
    name: 'behaves like the memory index for any sequence of calls',
    async run({ vectors }, random) {
      const lakes = ['one', 'two'];
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 12 }),
          fc.array(look, { minLength: 1, maxLength: 4 }),
          async (steps, looks) => {
            const model = createMemoryVectors();
            for (const id of lakes) await vectors.remove({ lakeId: id });
            for (const one of steps) {
              for (const index of [vectors, model]) {
                if (one.verb === 'upsert')
                  await index.upsert([...new Map(one.chunks.map((any) => [any.id, any])).values()]);
                else
                  await index.remove({
                    lakeId: one.lakeId,
                    ...(one.fileId !== null && { fileId: one.fileId }),
                  });
              }
            }
            for (const { lakeIds, fileIds, tags, words, degrees, limit } of looks) {
              const scope = { lakeIds, ...(fileIds && { fileIds }), ...(tags && { tags }) };
              const want = { scope, vector: at(degrees), limit };
              const near = (found: readonly { id: string; score: number }[]) =>
                found.map(({ id, score }) => [id, score.toFixed(4)]);
              expect(near(await vectors.nearest(want))).toEqual(near(await model.nearest(want)));
              expect(getIds(await vectors.matching({ ...want, words }))).toEqual(
                getIds(await model.matching({ ...want, words })),
              );
            }
            for (const id of lakes) {
              expect(await vectors.count({ lakeId: id })).toBe(await model.count({ lakeId: id }));
            }
          },
        ),
        getRuns(random),
      );
    },
  },
];
