import { setImmediate as turn } from 'node:timers/promises';
import type { AttachableFile, FilesReader } from '../files/reader.ts';
import type { CallOptions } from '../ports/options.ts';
import type { Store } from '../ports/store.ts';
import { type ChunkScope, type FoundChunk, hasDirection, type VectorIndex } from '../ports/vectors.ts';
import { LAKE_FILES } from './records.ts';
import { distinctWords } from './words.ts';

/** Looked at before ranking, so that what only one of the two ways finds has its chance. */
const FEWEST_CANDIDATES = 50;
/** So many times more when files that are gone have taken the places of others … */
const FURTHER = 8;
/** … and never more than these. */
const MOST_CANDIDATES = 4000;
const MOST_WORDS = 32;
/** Ranked before the host is given its turn. */
const AT_ONCE = 200;
/** Reciprocal rank fusion: how little the first ranks stand out. The usual number. */
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
  /** The direction of the query, by the model of these lakes. Without one nothing is found. */
  readonly vector: readonly number[];
  readonly limit: number;
  readonly minScore: number;
}

/**
 * The best passages by meaning and by words together. Of files that are deleted, or that whoever added them cannot read
 * any more, nothing is shown, whatever the index still holds.
 */
export async function findPassages(
  services: LakeSearchServices,
  question: LakeQuestion,
  options: CallOptions,
): Promise<Passage[]> {
  const { limit, vector } = question;
  if (!hasDirection(vector)) return [];
  const fileOf = createFileLookup(services);
  for (let most = Math.max(FEWEST_CANDIDATES, 4 * limit); ; most *= FURTHER) {
    const { found, isAll } = await candidatesOf(services, question, most, options);
    const passages: Passage[] = [];
    let hidden = 0;
    for (const chunk of found) {
      if (passages.length === limit) break;
      const file = await fileOf(chunk.fileId);
      if (file === undefined) hidden += 1;
      else passages.push({ chunk, file });
    }
    if (passages.length === limit || hidden === 0 || isAll || most * FURTHER > MOST_CANDIDATES)
      return passages;
  }
}

/** What the index knows, best first. `isAll`: it knows no more that would fit. */
async function candidatesOf(
  { vectors }: LakeSearchServices,
  { scope, query, vector, minScore }: LakeQuestion,
  limit: number,
  options: CallOptions,
): Promise<{ found: FoundChunk[]; isAll: boolean }> {
  const words = distinctWords(query).slice(0, MOST_WORDS);
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

/** Rare words say more than common ones. Where there is a book to look through, others get their turn meanwhile. */
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
