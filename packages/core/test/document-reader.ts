import { createFakeClock } from '@questline/testing';
import { createDocumentReader, type ReadDocumentOptions } from '../src/features/files/documents.ts';
import { FILES, type FileRecord } from '../src/features/files/records.ts';
import { createMemoryStore } from '../src/memory/store.ts';
import type { TextExtractor } from '../src/ports/text-extractor.ts';
import { delayed } from './delayed.ts';

export const ID = 'a'.repeat(24);
const BYTES = Buffer.from('bytes');
export const ADA = { owner: 'ada' };

export type Extract = TextExtractor['extract'];

export async function setUp(
  extract: Extract = async () => ({ text: 'read' }),
  about: Partial<FileRecord> = {},
) {
  const clock = createFakeClock();
  const store = createMemoryStore();
  const files = store.collection(FILES);
  const text = { name: 'a.x', mimeType: 'text/x', size: 5, source: 'upload', createdAt: 0 } as const;
  const file: FileRecord = { id: ID, ownerId: 'ada', status: 'clean', ...text, ...about };
  await files.insert(file);
  const calls: unknown[] = [];
  const reading = (type: string): TextExtractor => ({
    reads: ({ mimeType, name }) => mimeType === type && name === 'a.x',
    extract(bytes, ...given) {
      calls.push([Buffer.from(bytes).toString(), given[0], given[1]?.owner]);
      return extract(bytes, ...given);
    },
  });
  const plainText = reading('text/plain');
  const documents = createDocumentReader({
    ...{
      store: delayed(store),
      clock,
      plainText,
      extractors: [reading('text/x'), reading('text/x'), plainText],
    },
    settings: { maxConcurrent: 2, timeoutMs: 5000 },
  });
  const read = (options: ReadDocumentOptions = ADA, more: Partial<FileRecord> = {}) =>
    documents.read({ ...file, ...more }, async () => BYTES, options);
  const attempts = async () => {
    const { readAttempts, readRefusal } = (await files.get(ID)) ?? {};
    return { readAttempts, readRefusal };
  };
  return { clock, files, file, documents, calls, read, attempts };
}
