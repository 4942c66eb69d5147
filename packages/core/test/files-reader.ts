import type { DocumentReader, ReadOutcome } from '../src/features/files/documents.ts';
import type { FileLibrary } from '../src/features/files/library.ts';
import { createFilesReader } from '../src/features/files/reader.ts';
import { FILES, type FileRecord } from '../src/features/files/records.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import type { ModelInfo } from '../src/ports/models.ts';
import type { Incident } from '../src/shared/incident.ts';

export const MIB = 2 ** 20;
export const toId = (number: number) => `${number}`.padStart(24, '0');
export const TEXT = toId(1);
export const IMAGE = toId(2);
export const SHARED = toId(3);
export const OTHER = toId(4);
export const UNCHECKED = toId(5);

export const MODEL = { id: 'm', contextWindow: 8, supportsVision: true } as unknown as ModelInfo;

export async function setUp(outcome: ReadOutcome = { status: 'read', text: 'hello' }, image?: Uint8Array) {
  const store = createMemoryStore();
  const files = store.collection(FILES);
  const add = (id: string, more: Partial<FileRecord> = {}) => {
    const text = { name: `${Number(id)}.txt`, mimeType: 'text/plain', size: 5, createdAt: 0 } as const;
    return files.insert({ id, ownerId: 'ada', status: 'clean', source: 'upload', ...text, ...more });
  };
  await add(TEXT);
  await add(IMAGE, { mimeType: 'image/png' });
  await add(SHARED, { ownerId: 'bob', readerIds: ['ada'] });
  await add(OTHER, { ownerId: 'bob' });
  await add(UNCHECKED, { status: 'scanning' });
  const incidents: Incident[] = [];
  const calls: unknown[] = [];
  const library = {
    async getAll(_userId, ids) {
      const found = await files.find({ id: { in: ids }, status: 'clean' });
      return new Map(found.map((file) => [file.id, file]));
    },
    async readFound(file, limit, options) {
      calls.push([file.id, limit, options]);
      return image;
    },
  } as Partial<FileLibrary> as FileLibrary;
  const documents: DocumentReader = {
    async read(file, load, options) {
      calls.push([file.id, options]);
      await load({ signal: options.signal as never });
      return outcome;
    },
    async readBytes(bytes, type, options) {
      calls.push([Buffer.from(bytes).toString('latin1'), type, options]);
      return outcome;
    },
  };
  let finds = 0;
  const counting = {
    ...store,
    collection: () => ({
      ...files,
      find: (...given: Parameters<typeof files.find>) => {
        finds += 1;
        return files.find(...given);
      },
    }),
  };
  const reader = createFilesReader({
    ...{ store: counting as never, library, documents },
    onError: (incident) => incidents.push(incident),
  });
  const read = async (ids: readonly string[], model = MODEL) => {
    const contents = [];
    for await (const one of reader.contents('ada', ids, model)) contents.push(one);
    return contents;
  };
  return { reader, read, calls, incidents, countFinds: () => finds };
}
