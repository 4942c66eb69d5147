/**
 * Options of an `LRUCache` with at most `max` entries that allocates memory as it fills. `max` of the package allocates
 * all places at once: 3 ms for 10,000.
 */
export function withMaxEntries(max: number) {
  return { maxSize: max, sizeCalculation: () => 1 };
}
