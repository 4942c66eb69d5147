import { setImmediate as turn } from 'node:timers/promises';
import type { CallOptions } from '../../ports/options.ts';
import type { Store } from '../../ports/store.ts';
import { type ChunkScope, type FoundChunk, hasDirection, type VectorIndex } from '../../ports/vectors.ts';
import type { AttachableFile, FilesReader } from '../files/reader.ts';
import { LAKE_FILES } from './records.ts';
import { distinctWords } from './words.ts';

/** Candidates before ranking, so that passages found by only one of the two methods are considered. */
const MIN_CANDIDATES = 50;
/** Factor of additional candidates when deleted files displaced others … */
const FURTHER = 8;
/** … and its maximum. */
const MAX_CANDIDATES = 4000;
const MAX_WORDS = 32;
/** Ranked passages between two yields to the event loop. */
const AT_ONCE = 200;
/** Reciprocal rank fusion: damping of the first ranks. The common default. */
const RANK_OFFSET = 60;

export interface Passage {
  readonly chunk: FoundChunk;
  readonly file: AttachableFile;
}

export interface LakeSearchServices {
  readonly store: Store;
  readonly vectors: VectorIndex;
  readonly files: FilesReader;
}

export interface LakeQuestion {
  readonly scope: ChunkScope;
  readonly query: string;
  /** The query's vector by the model of these lakes. Without one the result is empty. */
  readonly vector: readonly number[];
  readonly limit: number;
  readonly minScore: number;
}

/**
 * Returns the best passages by meaning and by words together. Omits files that are deleted, or that the user who added
 * them can no longer read, even if the index still has them.
 */
export async function findPassages(
  services: LakeSearchServices,
  question: LakeQuestion,
  options: CallOptions,
): Promise<Passage[]> {
  const { limit, vector } = question;
  if (!hasDirection(vector)) return [];
  const makeFile = createFileLookup(services);
  for (let most = Math.max(MIN_CANDIDATES, 4 * limit); ; most *= FURTHER) {
    const { found, isAll } = await getCandidates(services, question, most, options);
    const passages: Passage[] = [];
    let hidden = 0;
    for (const chunk of found) {
      if (passages.length === limit) break;
      const file = await makeFile(chunk.fileId);
      if (file === undefined) hidden += 1;
      else passages.push({ chunk, file });
    }
    if (passages.length === limit || hidden === 0 || isAll || most * FURTHER > MAX_CANDIDATES)
      return passages;
  }
}

/** The index results, best first. `isAll`: the index has no further matches. */
async function getCandidates(
  { vectors }: LakeSearchServices,
  { scope, query, vector, minScore }: LakeQuestion,
  limit: number,
  options: CallOptions,
): Promise<{ found: FoundChunk[]; isAll: boolean }> {
  const words = distinctWords(query).slice(0, MAX_WORDS);
  const [near, matching] = await Promise.all([
    vectors.nearest({ scope, vector, limit, minScore }, options),
    vectors.matching({ scope, vector, words, limit }, options),
  ]);
  const worded = await rankByWords(
    words,
    matching.filter(({ score }) => score >= minScore),
  );
  return { found: fuse([near, worded]), isAll: near.length < limit && matching.length < limit };
}

/** Weighs rare words higher than common ones. Yields to the event loop during long texts. */
export async function rankByWords(
  words: readonly string[],
  found: readonly FoundChunk[],
): Promise<FoundChunk[]> {
  const wanted = new Set(words);
  const held: { chunk: FoundChunk; own: ReadonlySet<string> }[] = [];
  for (const chunk of found) {
    held.push({ chunk, own: new Set(distinctWords(chunk.text).filter((word) => wanted.has(word))) });
    if (held.length % AT_ONCE === 0) await turn();
  }
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

/** Merges several rankings: passages with good ranks in both come first. */
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

/** Looks each file up once: in its lake, and among the files of the user who added it. */
function createFileLookup({ store, files }: LakeSearchServices) {
  const lakeFiles = store.collection(LAKE_FILES);
  const known = new Map<string, Promise<AttachableFile | undefined>>();
  const look = async (id: string): Promise<AttachableFile | undefined> => {
    const added = await lakeFiles.get(id);
    const file = added && (await files.find(added.addedBy, added.fileId));
    return file?.isClean === true ? file : undefined;
  };
  return (id: string): Promise<AttachableFile | undefined> => {
    const found = known.get(id) ?? look(id);
    known.set(id, found);
    return found;
  };
}
