import type { AttachableFile, FilesReader } from '@questline/core/internal';
import type { ModelContent } from '@questline/core/ports';

/** A files reader with the given files. */
export function createTestFilesReader(describe: {
  readonly find: (id: string) => AttachableFile | undefined;
  readonly content: (id: string) => readonly ModelContent[] | undefined;
}): FilesReader {
  return {
    find: async (_userId, id) => describe.find(id),
    findAll: async (_userId, ids) =>
      new Map(ids.flatMap((id) => describe.find(id) ?? []).map((file) => [file.id, file])),
    findFor: async (wanted) =>
      new Map(wanted.flatMap(({ id }) => describe.find(id) ?? []).map((file) => [file.id, file])),
    async *contents(_userId, ids) {
      for (const id of ids) yield { id, content: describe.content(id) };
    },
    convert: async (_userId, { contentType: mediaType, data, name }) => ({
      content: { type: 'document', mediaType, data, name },
    }),
  };
}
