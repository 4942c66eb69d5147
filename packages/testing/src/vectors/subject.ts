import type { FoundChunk, IndexedChunk, VectorIndex } from '@questline/core/ports';
import type { Case, Subject } from '../suite.ts';

export interface VectorsSubject extends Subject {
  readonly vectors: VectorIndex;
  /** Further handles on the same engine, like other processes. Concurrency cases use all of them. */
  readonly peers?: readonly VectorIndex[];
}

export type VectorsCase = Case<VectorsSubject>;

export function allIndexes({ vectors, peers = [] }: VectorsSubject): readonly VectorIndex[] {
  return [vectors, ...peers];
}

/** A sample chunk; its vector points along the first axis by default. */
export function makeChunk(id: string, about: Partial<IndexedChunk> = {}): IndexedChunk {
  return {
    id,
    lakeId: 'lake',
    fileId: 'file',
    place: 0,
    text: `text of ${id}`,
    words: ['text', id],
    tags: [],
    vector: [1, 0, 0],
    ...about,
  };
}

export const LAKE = { lakeIds: ['lake'] } as const;

/** A vector at this angle to the first axis, in the plane of the first two. */
export function at(degrees: number): readonly number[] {
  const angle = (degrees / 180) * Math.PI;
  return [Math.cos(angle), Math.sin(angle), 0];
}

export function getIds(found: readonly FoundChunk[]): readonly string[] {
  return found.map(({ id }) => id);
}
