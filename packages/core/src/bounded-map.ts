/** A map that forgets what was not asked for lately, so that it never grows beyond its bound. */
export interface BoundedMap<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  /** At once and for good. */
  delete(key: string): void;
  entries(): IterableIterator<[string, V]>;
}

/**
 * Two generations of at most half the bound each: when the young one is full, the old one is forgotten and the young one
 * becomes old. What is asked for moves among the young, so the half of the bound that was used last is always there, and
 * asking for it again writes nothing.
 * @param max entries kept, 2 or more; at least half of them.
 * @param onDrop told of every value that leaves: forgotten, deleted or replaced.
 */
export function createBoundedMap<V>(
  max: number,
  onDrop: (value: V) => void = () => undefined,
): BoundedMap<V> {
  const half = Math.floor(max / 2);
  let young = new Map<string, V>();
  let old = new Map<string, V>();

  const keep = (key: string, value: V): void => {
    if (young.size >= half) {
      const forgotten = old;
      old = young;
      young = new Map();
      for (const dropped of forgotten.values()) onDrop(dropped);
    }
    young.set(key, value);
  };

  const remove = (key: string): void => {
    for (const generation of [young, old]) {
      const value = generation.get(key);
      if (value !== undefined && generation.delete(key)) onDrop(value);
    }
  };

  return {
    get(key) {
      const known = young.get(key);
      if (known !== undefined) return known;
      const value = old.get(key);
      if (value === undefined) return undefined;
      old.delete(key);
      keep(key, value);
      return value;
    },
    set(key, value) {
      remove(key);
      keep(key, value);
    },
    delete: remove,
    *entries() {
      yield* young;
      yield* old;
    },
  };
}
