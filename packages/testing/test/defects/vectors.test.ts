import { createMemoryVectors } from '@questline/core/memory';
import type { VectorIndex } from '@questline/core/ports';
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
    'writes chunk by chunk and leaves a part of a failed call',
    ['writes all chunks of a call or none'],
    (sound) => ({
      async upsert(chunks, options) {
        for (const chunk of chunks) await sound.upsert([chunk], options);
      },
    }),
  ),
  defect(
    'mixes words and texts of two calls in one chunk',
    ['leaves one whole version of each chunk after parallel writes'],
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
  defect(
    'ignores the list of permitted lakes',
    ['searches only in the requested lakes and files'],
    (sound) => ({
      nearest: (want, options) =>
        sound.nearest(
          {
            ...want,
            scope: { ...want.scope, lakeIds: [...want.scope.lakeIds, 'lake', 'other', 'one', 'two'] },
          },
          options,
        ),
    }),
  ),
  defect(
    'treats an empty list of files or tags as absent',
    ['searches only in the requested lakes and files'],
    (sound) => ({
      nearest: (want, options) => {
        const { lakeIds, fileIds = [], tags = [] } = want.scope;
        const scope = { lakeIds, ...(fileIds.length > 0 && { fileIds }), ...(tags.length > 0 && { tags }) };
        return sound.nearest({ ...want, scope }, options);
      },
    }),
  ),
  defect('removes a file from every lake', ['removes only the requested file or lake'], (sound) => ({
    async remove({ lakeId, fileId }, options) {
      await sound.remove({ lakeId, ...(fileId !== undefined && { fileId }) }, options);
      if (fileId !== undefined) await sound.remove({ lakeId: 'other', fileId }, options);
    },
  })),
  defect('keeps the farthest results of a search', ['returns nothing below the minimum score'], (sound) => ({
    nearest: ({ minScore: _, ...want }, options) => sound.nearest(want, options),
  })),
  defect(
    'continues writing after an abort',
    ['changes nothing for a call aborted before its start'],
    (sound) => ({ upsert: (chunks) => sound.upsert(chunks) }),
  ),
]);
