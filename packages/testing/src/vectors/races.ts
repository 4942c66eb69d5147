import { createMemoryVectors } from '@questline/core/memory';
import fc from 'fast-check';
import { expect } from 'vitest';
import { runsOf } from '../suite.ts';
import { allIndexes, at, chunkOf, idsOf, LAKE, type VectorsCase } from './subject.ts';

const ALL = { scope: LAKE, vector: at(0), limit: 999 } as const;

export const raceCases: readonly VectorsCase[] = [
  {
    section: 'race',
    name: 'parallel writers of the same chunks leave one whole version of each',
    async run(subject) {
      const indexes = allIndexes(subject);
      const ids = Array.from({ length: 20 }, (_, index) => `chunk${index}`);
      await Promise.all(
        Array.from({ length: 10 }, (_, writer) =>
          indexes[writer % indexes.length]?.upsert(
            ids.map((id) => chunkOf(id, { text: `by ${writer}`, words: [`by${writer}`], place: writer })),
          ),
        ),
      );
      const found = await subject.vectors.nearest(ALL);
      expect(idsOf(found).toSorted()).toEqual(ids.toSorted());
      expect(await subject.vectors.count({ lakeId: 'lake' })).toBe(ids.length);
      for (const { text, place } of found) expect(text).toBe(`by ${place}`);
      for (let writer = 0; writer < 10; writer += 1) {
        const told = await subject.vectors.matching({ ...ALL, words: [`by${writer}`] });
        expect(idsOf(told).toSorted()).toEqual(
          idsOf(found.filter(({ place }) => place === writer)).toSorted(),
        );
      }
    },
  },
  {
    section: 'race',
    name: 'what is removed while others write is gone, and the rest is there',
    async run(subject) {
      const indexes = allIndexes(subject);
      const fileOf = (index: number) => `file${index % 5}`;
      const chunks = Array.from({ length: 50 }, (_, index) =>
        chunkOf(`c${index}`, { fileId: fileOf(index) }),
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
    name: 'a call that was given up before it began changes nothing',
    async run({ vectors }) {
      await vectors.upsert([chunkOf('a')]);
      const options = { signal: AbortSignal.abort(new Error('given up')) };
      await expect(vectors.upsert([chunkOf('b')], options)).rejects.toThrow('given up');
      await expect(vectors.remove({ lakeId: 'lake' }, options)).rejects.toThrow('given up');
      await expect(vectors.nearest(ALL, options)).rejects.toThrow('given up');
      await expect(vectors.matching({ ...ALL, words: ['text'] }, options)).rejects.toThrow('given up');
      await expect(vectors.count({ lakeId: 'lake' }, options)).rejects.toThrow('given up');
      expect(idsOf(await vectors.nearest(ALL))).toEqual(['a']);
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
    // Whole degrees: far enough apart that no engine's rounding changes an order, unless they are equal.
    degrees: fc.integer({ min: 0, max: 180 }),
  })
  .map(({ degrees, ...about }) => chunkOf(about.id, { ...about, vector: at(degrees) }));

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
    name: 'does what the one in memory does, whatever is written and asked',
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
              expect(idsOf(await vectors.matching({ ...want, words }))).toEqual(
                idsOf(await model.matching({ ...want, words })),
              );
            }
            for (const id of lakes) {
              expect(await vectors.count({ lakeId: id })).toBe(await model.count({ lakeId: id }));
            }
          },
        ),
        runsOf(random),
      );
    },
  },
];
