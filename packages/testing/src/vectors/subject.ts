import type { FoundChunk, IndexedChunk, VectorIndex } from '@questline/core';
import type { Case, Subject } from '../suite.ts';

export interface VectorsSubject extends Subject {
  readonly vectors: VectorIndex;
  /** More of the same over the same engine, as other processes would have it. The races are spread over all. */
  readonly peers?: readonly VectorIndex[];
}

export type VectorsCase = Case<VectorsSubject>;

export function allIndexes({ vectors, peers = [] }: VectorsSubject): readonly VectorIndex[] {
  return [vectors, ...peers];
}

/** A chunk about nothing in particular, pointing along the first axis unless it is told otherwise. */
export function chunkOf(id: string, about: Partial<IndexedChunk> = {}): IndexedChunk {
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

/** Points so far from the first axis, in the plane of the first two. */
export function at(degrees: number): readonly number[] {
  const angle = (degrees / 180) * Math.PI;
  return [Math.cos(angle), Math.sin(angle), 0];
}

export function idsOf(found: readonly FoundChunk[]): readonly string[] {
  return found.map(({ id }) => id);
}
