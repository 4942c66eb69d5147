import {
  type Chunk,
  type ChunkGroup,
  type ChunkScope,
  cosine,
  type FoundChunk,
  type IndexedChunk,
  toDirection,
  type VectorIndex,
} from '../ports/vectors.ts';

interface Entry {
  readonly chunk: Chunk;
  readonly direction: Float32Array;
  readonly words: ReadonlySet<string>;
}

/** Creates a vector index in memory, with exact search. A restart loses all data. */
export function createMemoryVectors(): VectorIndex {
  const lakes = new Map<string, Map<string, Entry>>();
  /** The lake of each id. */
  const places = new Map<string, string>();

  const entriesIn = ({ lakeIds }: ChunkScope): Entry[] =>
    [...new Set(lakeIds)].flatMap((lakeId) => [...(lakes.get(lakeId)?.values() ?? [])]);

  const found = (scope: ChunkScope, direction: Float32Array): { entry: Entry; score: number }[] =>
    entriesIn(scope)
      .filter((entry) => entry.direction.length === direction.length && isWithin(entry.chunk, scope))
      .map((entry) => ({ entry, score: cosine(entry.direction, direction) }));

  const inGroup = ({ lakeId, fileId }: ChunkGroup): string[] =>
    [...(lakes.get(lakeId)?.values() ?? [])]
      .filter(({ chunk }) => fileId === undefined || chunk.fileId === fileId)
      .map(({ chunk }) => chunk.id);

  const drop = (id: string): void => {
    const lakeId = places.get(id) ?? '';
    const lake = lakes.get(lakeId);
    lake?.delete(id);
    if (lake?.size === 0) lakes.delete(lakeId);
    places.delete(id);
  };

  return {
    async upsert(chunks, options) {
      options?.signal?.throwIfAborted();
      const entries = chunks.map(toEntry);
      for (const entry of entries) {
        const { id, lakeId } = entry.chunk;
        drop(id);
        places.set(id, lakeId);
        const lake = lakes.get(lakeId) ?? new Map<string, Entry>();
        lakes.set(lakeId, lake.set(id, entry));
      }
    },

    async remove(group, options) {
      options?.signal?.throwIfAborted();
      for (const id of inGroup(group)) drop(id);
    },

    async nearest({ scope, vector, limit, minScore = -1 }, options) {
      options?.signal?.throwIfAborted();
      return found(scope, toDirection(vector))
        .filter(({ score }) => score >= minScore)
        .sort((a, b) => b.score - a.score || byId(a.entry, b.entry))
        .slice(0, limit)
        .map(toFound);
    },

    async matching({ scope, words, vector, limit }, options) {
      options?.signal?.throwIfAborted();
      const wanted = [...new Set(words)];
      return found(scope, toDirection(vector))
        .map((one) => ({ ...one, held: wanted.filter((word) => one.entry.words.has(word)).length }))
        .filter(({ held }) => held > 0)
        .sort((a, b) => b.held - a.held || byId(a.entry, b.entry))
        .slice(0, limit)
        .map(toFound);
    },

    async count(group, options) {
      options?.signal?.throwIfAborted();
      return inGroup(group).length;
    },
  };
}

function toEntry({ vector, words, ...chunk }: IndexedChunk): Entry {
  return {
    chunk: { ...chunk, tags: [...chunk.tags] },
    direction: toDirection(vector),
    words: new Set(words),
  };
}

function toFound({ entry, score }: { entry: Entry; score: number }): FoundChunk {
  return { ...entry.chunk, score };
}

function isWithin({ fileId, tags }: Chunk, scope: ChunkScope): boolean {
  if (scope.fileIds !== undefined && !scope.fileIds.includes(fileId)) return false;
  return scope.tags === undefined || scope.tags.some((tag) => tags.includes(tag));
}

function byId(a: Entry, b: Entry): number {
  return a.chunk.id < b.chunk.id ? -1 : 1;
}
