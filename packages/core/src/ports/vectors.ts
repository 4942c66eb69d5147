import type { CallOptions } from './options.ts';

/** A piece of a file that can be found. */
export interface Chunk {
  readonly id: string;
  readonly lakeId: string;
  readonly fileId: string;
  /** Where in its file, from 0. */
  readonly place: number;
  readonly text: string;
  readonly tags: readonly string[];
}

export interface IndexedChunk extends Chunk {
  /** What it means, of any length. Only its direction counts; kept as 32-bit floats. */
  readonly vector: readonly number[];
  /** What it can be found by, word for word: distinct, lower case. */
  readonly words: readonly string[];
}

export interface FoundChunk extends Chunk {
  /** The cosine of the angle to the wanted vector: -1..1, 1 is nearest. */
  readonly score: number;
}

/** Where to look. A chunk must be in one of the lakes, and fit each other list that is given. */
export interface ChunkScope {
  readonly lakeIds: readonly string[];
  readonly fileIds?: readonly string[];
  /** At least one of these. */
  readonly tags?: readonly string[];
}

/** What to take away or count: a file of a lake, or all of the lake. */
export interface ChunkGroup {
  readonly lakeId: string;
  readonly fileId?: string;
}

/**
 * Chunks of texts, found by what they mean and by the words in them. Only chunks whose vectors are as long as the wanted
 * one can be compared; others stay out.
 */
export interface VectorIndex {
  /**
   * Adds chunks, and replaces those that have the same ids: all of one call or none, whatever else writes meanwhile. Once
   * it has resolved every search sees them, in every process that shares the engine.
   * Rejects with a `RangeError`, nothing written, when a vector is empty, all zeros or not of finite numbers.
   */
  upsert(chunks: readonly IndexedChunk[], options?: CallOptions): Promise<void>;
  /** Once it has resolved no search sees what was there before. Removing what is not there is no error. */
  remove(group: ChunkGroup, options?: CallOptions): Promise<void>;
  /**
   * The nearest ones, nearest first, equally near ones by id. Each chunk is seen as it was or as it is, never a mixture. An
   * engine may look at a part of a large lake only, and so miss one that is about as near as the last one found.
   */
  nearest(
    want: {
      readonly scope: ChunkScope;
      readonly vector: readonly number[];
      /** 1 or more. */
      readonly limit: number;
      /** Nothing below it. Default -1. */
      readonly minScore?: number;
    },
    options?: CallOptions,
  ): Promise<readonly FoundChunk[]>;
  /** Those that hold at least one of the words: who holds more of them comes first, of equals by id. */
  matching(
    want: {
      readonly scope: ChunkScope;
      readonly words: readonly string[];
      /** What their score is told against. */
      readonly vector: readonly number[];
      readonly limit: number;
    },
    options?: CallOptions,
  ): Promise<readonly FoundChunk[]>;
  count(group: ChunkGroup, options?: CallOptions): Promise<number>;
}

/**
 * The direction alone, as 32-bit floats: two of them are compared by adding up products.
 * @throws RangeError when there is no direction.
 */
export function toDirection(vector: readonly number[]): Float32Array {
  if (!hasDirection(vector)) throw new RangeError('a vector must have finite numbers, and not only zeros');
  const length = lengthOf(vector);
  return Float32Array.from(vector, (value) => value / length);
}

/** A model may have nothing to say of a text, such as of one without a word. */
export function hasDirection(vector: readonly number[]): boolean {
  const length = lengthOf(vector);
  return length > 0 && length < Number.POSITIVE_INFINITY;
}

function lengthOf(vector: readonly number[]): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}

/** The cosine of two directions of one length. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return Math.min(1, Math.max(-1, sum));
}
