import { type Comparable, compareValues } from './compare.ts';

/** A place in an index: the indexed values, then the record's id. */
export type SortKey = readonly Comparable[];

/** One end of a range of keys: all keys that begin with `prefix` lie behind it, or before it. */
export interface Bound {
  readonly prefix: SortKey;
  readonly side: 'before' | 'behind';
}

/** Keys in order. Inserting, removing, finding a rank and walking from it stay cheap at a million keys. */
export interface SortedKeys {
  readonly size: number;
  insert(key: SortKey): void;
  remove(key: SortKey): void;
  /** How many keys lie before the bound. */
  rank(bound: Bound): number;
  /** The keys of ranks `from` (included) to `to` (excluded), downwards when `from` is the greater. */
  walk(from: number, to: number): Generator<SortKey>;
}

const CHUNK_SIZE = 512;

export function createSortedKeys(): SortedKeys {
  const chunks: SortKey[][] = [[]];
  /** How many keys lie before a chunk, as far as it is known: a change in a chunk unsettles those behind it. */
  const starts: number[] = [0];
  let known = 1;
  let size = 0;

  const startOf = (place: number): number => {
    for (; known <= place; known += 1) {
      starts[known] = (starts[known - 1] ?? 0) + (chunks[known - 1]?.length ?? 0);
    }
    return starts[place] ?? 0;
  };

  const changed = (place: number): void => {
    known = Math.min(known, place + 1);
  };

  /** The chunk that holds the key of a rank. */
  const chunkOf = (rank: number): number => {
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (startOf(middle) <= rank) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  /** The first chunk that may hold keys behind the bound. */
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
    get size() {
      return size;
    },

    insert(key) {
      const bound: Bound = { prefix: key, side: 'before' };
      const end = chunks.at(-1)?.at(-1);
      // Ids and times grow, so that most keys come last.
      const isLast = end === undefined || comparePrefix(end, key) < 0;
      const place = isLast ? chunks.length - 1 : chunkAt(bound);
      const chunk = chunks[place] ?? [];
      if (isLast) chunk.push(key);
      else chunk.splice(placeIn(chunk, bound), 0, key);
      if (chunk.length > CHUNK_SIZE) {
        // A full last chunk keeps everything: keys that only grow fill their chunks.
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
      return startOf(place) + placeIn(chunks[place] ?? [], bound);
    },

    *walk(from, to) {
      const step = from <= to ? 1 : -1;
      let left = Math.abs(to - from);
      const first = step > 0 ? from : from - 1;
      let place = chunkOf(first);
      let at = first - startOf(place);
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

/** Where in a chunk the bound falls. */
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

/** Compares as far as the prefix reaches. */
function comparePrefix(key: SortKey, prefix: SortKey): number {
  for (let at = 0; at < prefix.length; at += 1) {
    const order = compareValues(key[at] ?? null, prefix[at] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}
