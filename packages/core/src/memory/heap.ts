/** A heap item. It can be in one heap at a time, which stores its position in `slot`. */
export interface HeapItem {
  /** -1 outside the heap. */
  slot: number;
}

/** A binary heap that can also remove or reorder an item in O(log n). */
export interface Heap<T extends HeapItem> {
  size(): number;
  first(): T | undefined;
  push(item: T): void;
  /** Removes an item. Does nothing if the item is not in this heap. */
  remove(item: T): void;
  /** Call it after the sort key of the item changed. */
  moved(item: T): void;
}

export function createHeap<T extends HeapItem>(isBefore: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];

  const place = (item: T, slot: number): void => {
    items[slot] = item;
    item.slot = slot;
  };

  const rise = (item: T): void => {
    let slot = item.slot;
    while (slot > 0) {
      const parent = items[(slot - 1) >> 1];
      if (parent === undefined || !isBefore(item, parent)) break;
      const above = parent.slot;
      place(parent, slot);
      slot = above;
    }
    place(item, slot);
  };

  const sink = (item: T): void => {
    let slot = item.slot;
    for (;;) {
      let child = items[2 * slot + 1];
      const right = items[2 * slot + 2];
      if (child === undefined) break;
      if (right !== undefined && isBefore(right, child)) child = right;
      if (!isBefore(child, item)) break;
      const below = child.slot;
      place(child, slot);
      slot = below;
    }
    place(item, slot);
  };

  return {
    size: () => items.length,
    first: () => items[0],
    push(item) {
      place(item, items.length);
      rise(item);
    },
    remove(item) {
      if (items[item.slot] !== item) return;
      const last = items.pop();
      if (last !== undefined && last !== item) {
        place(last, item.slot);
        rise(last);
        sink(last);
      }
      item.slot = -1;
    },
    moved(item) {
      if (items[item.slot] !== item) return;
      rise(item);
      sink(item);
    },
  };
}
