import type { CallOptions } from './options.ts';

/** A searchable part of a file. */
export interface Chunk {
  readonly id: string;
  readonly lakeId: string;
  readonly fileId: string;
  /** Index within the file, from 0. */
  readonly place: number;
  readonly text: string;
  readonly tags: readonly string[];
}

/** A chunk with what searches use. */
export interface IndexedChunk extends Chunk {
  /** The embedding, of any length. Only its direction matters; stored as 32-bit floats. */
  readonly vector: readonly number[];
  /** Search terms for `matching`: distinct, lower case. */
  readonly words: readonly string[];
}

/** A chunk that a search returned. */
export interface FoundChunk extends Chunk {
  /** Cosine similarity to the query vector: -1 to 1; 1 is nearest. */
  readonly score: number;
}

/** Limits a search. A chunk must be in one of the lakes and match each other list that is given. */
export interface ChunkScope {
  readonly lakeIds: readonly string[];
  readonly fileIds?: readonly string[];
  /** The chunk must have at least one of these tags. */
  readonly tags?: readonly string[];
}

/** Selects the chunks of one file of a lake, or of the whole lake. */
export interface ChunkGroup {
  readonly lakeId: string;
  readonly fileId?: string;
}

/**
 * Stores text chunks and searches them by meaning and by words. A search ignores chunks whose vector length differs
 * from the query vector.
 */
export interface VectorIndex {
  /**
   * Adds chunks and replaces chunks with the same ids, atomically per call. After it resolves, every search sees
   * them, in all processes that share the engine. Rejects with a `RangeError`, without writing, if a vector is empty,
   * all zeros or not finite.
   */
  upsert(chunks: readonly IndexedChunk[], options?: CallOptions): Promise<void>;
  /** Removes chunks. After it resolves, no search finds them. An unknown group is not an error. */
  remove(group: ChunkGroup, options?: CallOptions): Promise<void>;
  /**
   * Returns the nearest chunks, nearest first, ties by id. A search sees each chunk before or after a concurrent
   * write, never a mixture. An engine may search approximately, and so miss a chunk that is about as near as the last
   * result.
   */
  nearest(
    want: {
      readonly scope: ChunkScope;
      readonly vector: readonly number[];
      /** 1 or more. */
      readonly limit: number;
      /** Minimum score of a result. Default -1. */
      readonly minScore?: number;
    },
    options?: CallOptions,
  ): Promise<readonly FoundChunk[]>;
  /** Returns chunks that contain at least one of the words: most matching words first, ties by id. */
  matching(
    want: {
      readonly scope: ChunkScope;
      readonly words: readonly string[];
      /** The query vector, for `score`. */
      readonly vector: readonly number[];
      readonly limit: number;
    },
    options?: CallOptions,
  ): Promise<readonly FoundChunk[]>;
  count(group: ChunkGroup, options?: CallOptions): Promise<number>;
}

/**
 * Normalizes a vector to length 1, as 32-bit floats, so that the cosine is a dot product.
 * @throws RangeError if the vector is empty, all zeros or not finite.
 */
export function toDirection(vector: readonly number[]): Float32Array {
  if (!hasDirection(vector)) throw new RangeError('a vector must have finite numbers, and not only zeros');
  const length = getLength(vector);
  return Float32Array.from(vector, (value) => value / length);
}

/** Whether a vector has a usable direction. A model may return zeros, for example for a text without words. */
export function hasDirection(vector: readonly number[]): boolean {
  const length = getLength(vector);
  return length > 0 && length < Number.POSITIVE_INFINITY;
}

function getLength(vector: readonly number[]): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}

/** The cosine of two vectors from `toDirection` of equal length, clamped to -1..1. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let index = 0; index < a.length; index++) sum += (a[index] as number) * (b[index] as number);
  return Math.min(1, Math.max(-1, sum));
}
