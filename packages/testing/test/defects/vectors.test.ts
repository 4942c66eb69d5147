import type { VectorIndex } from '@questline/core';
import { createMemoryVectors } from '@questline/core/memory';
import { createFakeClock, fakeTime, type VectorsSubject, vectorsCases } from '@questline/testing';
import { type Defect, defectTests, gap } from './red.ts';

function defect(
  name: string,
  red: readonly string[],
  spoil: (sound: VectorIndex) => Partial<VectorIndex>,
): Defect<VectorsSubject> {
  return {
    name,
    red,
    create: async () => {
      const sound = createMemoryVectors();
      return { vectors: { ...sound, ...spoil(sound) }, time: fakeTime(createFakeClock()) };
    },
  };
}

defectTests('vector index', vectorsCases, [
  defect(
    'writes chunk by chunk, and so a part of a call that fails',
    ['writes all of a call or none of it'],
    (sound) => ({
      async upsert(chunks, options) {
        for (const chunk of chunks) await sound.upsert([chunk], options);
      },
    }),
  ),
  defect(
    'writes words and texts of two calls into one chunk',
    ['parallel writers of the same chunks leave one whole version of each'],
    (sound) => {
      const words = new Map<string, readonly string[]>();
      return {
        async upsert(chunks, options) {
          for (const chunk of chunks) if (!words.has(chunk.id)) words.set(chunk.id, chunk.words);
          await gap();
          await sound.upsert(
            chunks.map((chunk) => ({ ...chunk, words: words.get(chunk.id) ?? chunk.words })),
            options,
          );
          await gap();
          words.clear();
        },
      };
    },
  ),
  defect('forgets which lakes may be looked at', ['looks only where it is told to'], (sound) => ({
    nearest: (want, options) =>
      sound.nearest(
        {
          ...want,
          scope: { ...want.scope, lakeIds: [...want.scope.lakeIds, 'lake', 'other', 'one', 'two'] },
        },
        options,
      ),
  })),
  defect(
    'takes an empty list of files or tags for none at all',
    ['looks only where it is told to'],
    (sound) => ({
      nearest: (want, options) => {
        const { lakeIds, fileIds = [], tags = [] } = want.scope;
        const scope = { lakeIds, ...(fileIds.length > 0 && { fileIds }), ...(tags.length > 0 && { tags }) };
        return sound.nearest({ ...want, scope }, options);
      },
    }),
  ),
  defect(
    'removes a file from every lake it is in',
    ['removes a file, or a whole lake, and nothing else'],
    (sound) => ({
      async remove({ lakeId, fileId }, options) {
        await sound.remove({ lakeId, ...(fileId !== undefined && { fileId }) }, options);
        if (fileId !== undefined) await sound.remove({ lakeId: 'other', fileId }, options);
      },
    }),
  ),
  defect(
    'keeps what is far when it looks for what is near',
    ['answers nothing below the least score'],
    (sound) => ({ nearest: ({ minScore: _, ...want }, options) => sound.nearest(want, options) }),
  ),
  defect(
    'goes on writing for somebody who gave up',
    ['a call that was given up before it began changes nothing'],
    (sound) => ({ upsert: (chunks) => sound.upsert(chunks) }),
  ),
]);
