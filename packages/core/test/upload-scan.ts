import { FILE_USAGE, FILES, type FileRecord } from '../src/features/files/records.ts';
import { createScanHandler } from '../src/features/files/scan.ts';
import { createMemoryObjects } from '../src/memory/objects.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import type { Moderator } from '../src/ports/moderator.ts';
import type { ObjectStore } from '../src/ports/objects.ts';
import type { Incident } from '../src/shared/incident.ts';
import { delayed } from './delayed.ts';

export const ID = 'a'.repeat(24);

interface Options {
  readonly moderator?: Moderator | null;
  readonly file?: Partial<FileRecord>;
  readonly content?: string;
  readonly contentType?: string;
  readonly change?: (objects: ObjectStore) => Partial<ObjectStore>;
}

/** An uploaded file of five bytes, and objects that list their keys. */
export async function setUp(options: Options = {}) {
  const { moderator = null, content = 'hello', contentType = 'Text/Plain; charset=utf-8' } = options;
  const store = createMemoryStore();
  const memory = createMemoryObjects();
  const objects = { ...memory, ...options.change?.(memory) };
  const files = store.collection(FILES);
  const about = { name: 'a.txt', mimeType: 'text/plain', size: 5, source: 'upload', createdAt: 0 } as const;
  await files.insert({ id: ID, ownerId: 'ada', status: 'scanning', ...about, ...options.file });
  await store.collection(FILE_USAGE).insert({ id: 'ada', bytes: 5 });
  await memory.put(`uploads/${ID}`, Buffer.from(content), { contentType });
  const incidents: Incident[] = [];
  const handler = createScanHandler({
    ...{ store: delayed(store), objects: delayed(objects), moderator },
    onError: (one) => incidents.push(one),
  });
  const run = (fence = 1, signal = new AbortController().signal) =>
    handler.run({ payload: { fileId: ID }, fence } as never, signal, async () => undefined);
  const keys = async () => {
    const all = [`uploads/${ID}`, ...[1, 2, 3, 4].map((fence) => `files/${ID}/${fence}`)];
    const found = await Promise.all(all.map(async (key) => ((await memory.head(key)) ? [key] : [])));
    return found.flat();
  };
  const read = async () => ({
    status: (await files.get(ID))?.status,
    bytes: (await store.collection(FILE_USAGE).get('ada'))?.bytes,
    keys: await keys(),
  });
  const reported = () =>
    incidents.map(({ operation, requestId, error }) => [operation + requestId, (error as Error).message]);
  return { files, memory, handler, incidents, run, read, reported };
}
