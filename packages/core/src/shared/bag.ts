/**
 * Short-lived objects that are in use, e.g. open streams. A `Set` would cost most of the garbage collection: V8 replaces its
 * table every few changes, each replaced table keeps its entries and points to the next, and the scavenger takes
 * everything that a replaced table in the old generation points to as reachable.
 */
export interface Bag<T extends object> {
  size(): number;
  /** @returns removes the item; further calls have no effect. */
  add(item: T): () => void;
  /** The items, in no order. */
  values(): readonly T[];
}

export function createBag<T extends object>(): Bag<T> {
  const places: (T | undefined)[] = [];
  const free: number[] = [];
  return {
    size: () => places.length - free.length,
    add(item) {
      const place = free.pop() ?? places.length;
      places[place] = item;
      return () => {
        if (places[place] !== item) return;
        places[place] = undefined;
        free.push(place);
      };
    },
    values: () => places.filter((item) => item !== undefined),
  };
}
