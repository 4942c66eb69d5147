import type { FilesReader } from '../files/reader.ts';
import type { CallOptions } from '../ports/options.ts';
import type { Store } from '../ports/store.ts';
import type { ChunkScope, FoundChunk, VectorIndex } from '../ports/vectors.ts';
import { LAKE_FILES, type LakeFileRecord } from './records.ts';
import { distinctWords } from './words.ts';

/** Looked at before ranking, so that what only one of the two ways finds has its chance. */
const FEWEST_CANDIDATES = 50;
const MOST_WORDS = 32;
/** Reciprocal rank fusion: how little the first ranks stand out. The usual number. */
const RANK_OFFSET = 60;

export interface Passage {
  readonly chunk: FoundChunk;
  readonly file: LakeFileRecord;
}

export interface LakeSearchServices {
  readonly store: Store;
  readonly vectors: VectorIndex;
  readonly files: FilesReader;
}

export interface LakeQuestion {
  readonly scope: ChunkScope;
  readonly query: string;
  /** The direction of the query, by the model of these lakes. */
  readonly vector: readonly number[];
  readonly limit: number;
  readonly minScore: number;
}

/** The best passages by meaning and by words together. Files that are gone, for the index does not hear of that, are not shown. */
export async function findPassages(
  services: LakeSearchServices,
  { scope, query, vector, limit, minScore }: LakeQuestion,
  options: CallOptions,
): Promise<Passage[]> {
  const { vectors } = services;
  const candidates = Math.max(FEWEST_CANDIDATES, 4 * limit);
  const words = distinctWords(query).slice(0, MOST_WORDS);
  const [near, matching] = await Promise.all([
    vectors.nearest({ scope, vector, limit: candidates, minScore }, options),
    vectors.matching({ scope, vector, words, limit: candidates }, options),
  ]);
  const worded = rankByWords(
    words,
    matching.filter(({ score }) => score >= minScore),
  );
  const fileOf = createFileLookup(services);
  const passages: Passage[] = [];
  for (const chunk of fuse([near, worded])) {
    if (passages.length === limit) break;
    const file = await fileOf(chunk.fileId);
    if (file !== undefined) passages.push({ chunk, file });
  }
  return passages;
}

/** Rare words say more than common ones. */
export function rankByWords(words: readonly string[], found: readonly FoundChunk[]): FoundChunk[] {
  const held = found.map((chunk) => ({ chunk, own: new Set(distinctWords(chunk.text)) }));
  const weights = new Map(
    words.map((word) => [
      word,
      Math.log(1 + found.length / (1 + held.filter(({ own }) => own.has(word)).length)),
    ]),
  );
  return held
    .map(({ chunk, own }) => ({
      chunk,
      weight: words.reduce((sum, word) => sum + (own.has(word) ? (weights.get(word) ?? 0) : 0), 0),
    }))
    .sort((a, b) => b.weight - a.weight || (a.chunk.id < b.chunk.id ? -1 : 1))
    .map(({ chunk }) => chunk);
}

/** Several orders as one: what stands well in both comes first. */
function fuse(orders: readonly (readonly FoundChunk[])[]): FoundChunk[] {
  const sums = new Map<string, { chunk: FoundChunk; sum: number }>();
  for (const order of orders) {
    order.forEach((chunk, rank) => {
      const sum = (sums.get(chunk.id)?.sum ?? 0) + 1 / (RANK_OFFSET + rank + 1);
      sums.set(chunk.id, { chunk, sum });
    });
  }
  return [...sums.values()]
    .sort((a, b) => b.sum - a.sum || b.chunk.score - a.chunk.score || (a.chunk.id < b.chunk.id ? -1 : 1))
    .map(({ chunk }) => chunk);
}

/** Each file is looked for once: in its lake, and among the files of whoever added it. */
function createFileLookup({ store, files }: LakeSearchServices) {
  const lakeFiles = store.collection(LAKE_FILES);
  const known = new Map<string, Promise<LakeFileRecord | undefined>>();
  const look = async (id: string): Promise<LakeFileRecord | undefined> => {
    const file = await lakeFiles.get(id);
    const source = file && (await files.find(file.addedBy, file.fileId));
    return source?.isClean === true ? file : undefined;
  };
  return (id: string): Promise<LakeFileRecord | undefined> => {
    const found = known.get(id) ?? look(id);
    known.set(id, found);
    return found;
  };
}
