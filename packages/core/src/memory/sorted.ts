import { type Comparable, compareValues } from './compare.ts';

/** An index key: the indexed values, then the record id. */
export type SortKey = readonly Comparable[];

/** One end of a key range: before or after all keys that begin with `prefix`. */
export interface Bound {
  readonly prefix: SortKey;
  readonly side: 'before' | 'behind';
}

/** A sorted set of keys. Insert, remove, rank lookup and iteration are fast with a million keys. */
export interface SortedKeys {
  size(): number;
  insert(key: SortKey): void;
  remove(key: SortKey): void;
  /** Returns the number of keys before the bound. */
  rank(bound: Bound): number;
  /** Iterates the keys from rank `from` (inclusive) to `to` (exclusive), descending if `from` is greater. */
  walk(from: number, to: number): Generator<SortKey>;
}

const CHUNK_SIZE = 512;

export function createSortedKeys(): SortedKeys {
  const chunks: SortKey[][] = [[]];
  /** Cached number of keys before each chunk. A change invalidates the values of later chunks. */
  const starts: number[] = [0];
  let known = 1;
  let size = 0;

  const getStart = (place: number): number => {
    for (; known <= place; known += 1) {
      starts[known] = (starts[known - 1] ?? 0) + (chunks[known - 1]?.length ?? 0);
    }
    return starts[place] ?? 0;
  };

  const changed = (place: number): void => {
    known = Math.min(known, place + 1);
  };

  /** Returns the chunk that contains a rank. */
  const makeChunk = (rank: number): number => {
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (getStart(middle) <= rank) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  /** Returns the first chunk that may contain keys after the bound. */
  const chunkAt = (bound: Bound): number => {
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      const last = chunks[middle]?.at(-1);
      if (last !== undefined && isBefore(last, bound)) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    size: () => size,

    insert(key) {
      const bound: Bound = { prefix: key, side: 'before' };
      const end = chunks.at(-1)?.at(-1);
      // Ids and times increase, so most keys are appended.
      const isLast = end === undefined || comparePrefix(end, key) < 0;
      const place = isLast ? chunks.length - 1 : chunkAt(bound);
      const chunk = chunks[place] ?? [];
      if (isLast) chunk.push(key);
      else chunk.splice(placeIn(chunk, bound), 0, key);
      if (chunk.length > CHUNK_SIZE) {
        // Do not split a full last chunk, so that increasing keys fill their chunks.
        const cut = place === chunks.length - 1 ? CHUNK_SIZE : CHUNK_SIZE / 2;
        chunks.splice(place + 1, 0, chunk.splice(cut));
      }
      size += 1;
      changed(place);
    },

    remove(key) {
      const bound: Bound = { prefix: key, side: 'before' };
      const place = chunkAt(bound);
      const chunk = chunks[place] ?? [];
      const at = placeIn(chunk, bound);
      const found = chunk[at];
      if (found === undefined || comparePrefix(found, key) !== 0) return;
      chunk.splice(at, 1);
      if (chunk.length === 0 && chunks.length > 1) chunks.splice(place, 1);
      size -= 1;
      changed(place);
    },

    rank(bound) {
      if (bound.prefix.length === 0) return bound.side === 'before' ? 0 : size;
      const place = chunkAt(bound);
      return getStart(place) + placeIn(chunks[place] ?? [], bound);
    },

    *walk(from, to) {
      const step = from <= to ? 1 : -1;
      let left = Math.abs(to - from);
      const first = step > 0 ? from : from - 1;
      let place = makeChunk(first);
      let at = first - getStart(place);
      while (left > 0) {
        const key = chunks[place]?.[at];
        if (key !== undefined) {
          yield key;
          left -= 1;
          at += step;
          continue;
        }
        place += step;
        const next = chunks[place];
        if (next === undefined) return;
        at = step > 0 ? 0 : next.length - 1;
      }
    },
  };
}

/** Returns the position of the bound within a chunk. */
function placeIn(chunk: readonly SortKey[], bound: Bound): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const key = chunk[middle];
    if (key !== undefined && isBefore(key, bound)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBefore(key: SortKey, { prefix, side }: Bound): boolean {
  const order = comparePrefix(key, prefix);
  return order < 0 || (order === 0 && side === 'behind');
}

/** Compares the prefix only. */
function comparePrefix(key: SortKey, prefix: SortKey): number {
  for (let at = 0; at < prefix.length; at += 1) {
    const order = compareValues(key[at] ?? null, prefix[at] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}
