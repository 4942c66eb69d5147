import { createBoundedMap } from '../bounded-map.ts';
import type { FileLibrary } from '../files/library.ts';
import type { TextExtractor } from '../ports/text-extractor.ts';
import { countTokens, splitText } from './chunks.ts';
import { rankByWords } from './search.ts';
import { distinctWords } from './words.ts';

/** Files that a session is given whole or in part. */
const MOST_FILES = 20;
/** Files whose texts are kept at hand … */
const CACHED = 100;
/** … and characters of all of them. */
const MOST_CACHED = 2 ** 26;
const MOST_BYTES = 30 * 2 ** 20;
/** Tokens of all attached files in one turn. */
const MOST_TOKENS = 8000;

export interface AttachedChunk {
  readonly fileId: string;
  readonly fileName: string;
  readonly place: number;
  readonly text: string;
}

export interface AttachedTexts {
  /** In the order of the files, each one's in its own. */
  readonly chosen: readonly AttachedChunk[];
  /** What there was no room for, file by file. */
  readonly left: readonly { readonly fileName: string; readonly text: string }[];
}

/** The texts of files that are tied to a session: all of them, or what fits the question best where that is too much. */
export type AttachedReader = (
  userId: string,
  fileIds: readonly string[],
  question: string,
) => Promise<AttachedTexts>;

export function createAttachedReader(services: {
  readonly library: FileLibrary;
  readonly extractors: readonly TextExtractor[];
}): AttachedReader {
  const { library, extractors } = services;
  // A file's bytes never change, and a PDF takes its time. Rights are asked for every time, before this is.
  let cached = 0;
  const read = createBoundedMap<{ readonly texts: readonly string[]; readonly length: number }>(
    CACHED,
    ({ length }) => {
      cached -= length;
    },
  );
  const keep = (id: string, texts: readonly string[], length: number): void => {
    if (cached + length > MOST_CACHED) for (const [key] of [...read.entries()]) read.delete(key);
    cached += length;
    read.set(id, { texts, length });
  };

  const chunksOf = async (userId: string, fileId: string): Promise<AttachedChunk[]> => {
    const file = await library.get(userId, fileId);
    if (file === undefined) return [];
    const type = { mimeType: file.mimeType, name: file.name };
    const extractor = extractors.find((one) => one.reads(type));
    if (extractor === undefined) return [];
    let texts = read.get(file.id)?.texts;
    if (texts === undefined) {
      const bytes = await library.read(userId, fileId, MOST_BYTES);
      // A file that cannot be read says nothing; its owner learns of it where it is added.
      const text = bytes && (await extractor.extract(bytes, type).catch(() => undefined))?.text;
      texts = await splitText(text?.toWellFormed() ?? '', { limits: { tokens: 400, overlap: 0 } });
      keep(file.id, texts, text?.length ?? 0);
    }
    return texts.map((text, place) => ({ fileId: file.id, fileName: file.name, place, text }));
  };

  return async (userId, fileIds, question) => {
    const all: AttachedChunk[] = [];
    for (const fileId of fileIds.slice(0, MOST_FILES)) all.push(...(await chunksOf(userId, fileId)));
    const ranked = await rankByWords(
      distinctWords(question),
      all.map((chunk, order) => ({
        ...chunk,
        // Equally good ones in the order they stand in.
        id: String(order).padStart(9, '0'),
        lakeId: '',
        tags: [],
        score: 0,
      })),
    );
    const chosen = new Set<number>();
    let left = MOST_TOKENS;
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
