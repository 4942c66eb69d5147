import { createIngestionHandler } from '../src/features/data-lakes/ingestion.ts';
import type { LakeFileRecord, LakeRecord } from '../src/features/data-lakes/records.ts';
import type { DocumentReader, ReadOutcome } from '../src/features/files/documents.ts';
import type { FileRecord } from '../src/features/files/records.ts';
import type { VectorIndex } from '../src/ports/vectors.ts';
import { delayed } from './delayed.ts';
import { ADDED, FILE, LAKE, type LakeOptions, openLakes } from './lakes.ts';

export interface IngestionOptions extends LakeOptions {
  readonly lake?: Partial<LakeRecord>;
  readonly lakeFile?: Partial<LakeFileRecord>;
  /** Null: the file is deleted. */
  readonly file?: Partial<FileRecord> | null;
  readonly outcome?: ReadOutcome;
  readonly vectors?: (vectors: VectorIndex) => Partial<VectorIndex>;
}

/** A file of one chunk that waits in a lake, and the job that ingests it. */
export async function openIngestion(options: IngestionOptions = {}) {
  const reads: unknown[] = [];
  const documents: DocumentReader = {
    async read({ id }, load, { owner, waits, signal }) {
      reads.push({ id, owner, waits, signal });
      reads.push(await load({}));
      return options.outcome ?? { status: 'read', text: 'Some words.', tags: ['a'] };
    },
    readBytes: async () => ({ status: 'unsupported' }),
  };
  const opened = await openLakes({
    ...options,
    change: (own) => ({
      ...options.change?.(own),
      documents,
      vectors: delayed({ ...own.vectors, ...options.vectors?.(own.vectors) }, 8),
    }),
  });
  const { add, services, vectors, lakeFiles } = opened;
  await add.lake(options.lake);
  await add.lakeFile(options.lakeFile);
  if (options.file !== null) {
    await add.file(options.file);
    await services.objects.put('files/1', Buffer.from('hello'), { contentType: 'text/plain' });
  }
  const handler = createIngestionHandler(services);
  const run = (attempt = 1, signal = new AbortController().signal) =>
    handler.run({ payload: { id: ADDED }, attempt } as never, signal, async () => undefined);
  const getState = async () => {
    const { status, error, chunkCount, vectorizedCount, tries } = (await lakeFiles.get(ADDED)) ?? {};
    return { status, error, chunkCount, vectorizedCount, tries };
  };
  const countChunks = () => vectors.count({ lakeId: LAKE, fileId: ADDED });
  return { ...opened, handler, run, reads, getState, countChunks, fileId: FILE };
}
