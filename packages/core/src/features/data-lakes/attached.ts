import { LRUCache } from 'lru-cache';
import { firstDistinct } from '../../contract/lists.ts';
import type { CallOptions } from '../../ports/options.ts';
import type { DocumentReader } from '../files/documents.ts';
import type { FileLibrary } from '../files/library.ts';
import type { FileRecord } from '../files/records.ts';
import { countTokens, splitText } from './chunks.ts';
import { rankByWords } from './search.ts';
import { distinctWords } from './words.ts';

/** Maximum files of a session that enter a turn, whole or in part. */
const MAX_FILES = 20;
/** Maximum files in the text cache … */
const CACHED = 100;
/** … and characters of all of them. */
const MAX_CACHED = 2 ** 26;
const MAX_BYTES = 30 * 2 ** 20;
/** Maximum tokens of all attached files in one turn. */
const MAX_TOKENS = 8000;

export interface AttachedChunk {
  readonly fileId: string;
  readonly fileName: string;
  readonly place: number;
  readonly text: string;
}

export interface AttachedTexts {
  /** In the order of the files, and in the order of each text. */
  readonly chosen: readonly AttachedChunk[];
  /** The omitted parts, by file. */
  readonly left: readonly { readonly fileName: string; readonly text: string }[];
}

/** Returns the texts of a session's files: complete, or the passages that match the question best when they are too long. */
export type AttachedReader = (
  userId: string,
  fileIds: readonly string[],
  question: string,
) => Promise<AttachedTexts>;

interface CachedText {
  readonly texts: readonly string[];
  readonly length: number;
}

function createTextCache(): LRUCache<string, CachedText> {
  return new LRUCache({
    max: CACHED,
    maxSize: MAX_CACHED,
    sizeCalculation: ({ length }) => Math.max(length, 1),
  });
}

export function createAttachedReader(services: {
  readonly library: FileLibrary;
  readonly documents: DocumentReader;
}): AttachedReader {
  const { library, documents } = services;
  // A file's bytes never change, and a PDF takes time. Access is checked each time, before this.
  const read = createTextCache();

  const getChunks = async (userId: string, file: FileRecord): Promise<AttachedChunk[]> => {
    let texts = read.get(file.id)?.texts;
    if (texts === undefined) {
      const load = (options: CallOptions) => library.readFound(file, MAX_BYTES, options);
      const outcome = await documents.read(file, load, { owner: userId });
      // A later attempt may succeed.
      if (outcome.status === 'unavailable') return [];
      // A file without readable text is skipped; its owner sees the reason in the data lake.
      const text = outcome.status === 'read' ? outcome.text : '';
      texts = await splitText(text.toWellFormed(), { limits: { tokens: 400, overlap: 0 } });
      read.set(file.id, { texts, length: text.length });
    }
    return texts.map((text, place) => ({ fileId: file.id, fileName: file.name, place, text }));
  };

  return async (userId, fileIds, question) => {
    const all: AttachedChunk[] = [];
    const ids = firstDistinct(fileIds, MAX_FILES);
    const files = await library.getAll(userId, ids);
    for (const id of ids) {
      const file = files.get(id);
      if (file !== undefined) all.push(...(await getChunks(userId, file)));
    }
    const ranked = await rankByWords(
      distinctWords(question),
      all.map((chunk, order) => ({
        ...chunk,
        // Equal scores keep their order in the text.
        id: String(order).padStart(9, '0'),
        lakeId: '',
        tags: [],
        score: 0,
      })),
    );
    const chosen = new Set<number>();
    let left = MAX_TOKENS;
    for (const { id, text } of ranked) {
      left -= countTokens(text);
      if (left < 0) break;
      chosen.add(Number(id));
    }
    const rest = new Map<string, string[]>();
    for (const [order, { fileName, text }] of all.entries()) {
      if (chosen.has(order)) continue;
      const known = rest.get(fileName);
      if (known === undefined) rest.set(fileName, [text]);
      else known.push(text);
    }
    return {
      chosen: all.filter((_, order) => chosen.has(order)),
      left: [...rest].map(([fileName, texts]) => ({ fileName, text: texts.join('\n') })),
    };
  };
}
