import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/clock.ts';
import type { Collection, Filter, StoredRecord } from '../ports/store.ts';
import { withMaxEntries } from '../shared/cache-size.ts';

/** A count up to this is exact at all times: it costs little. */
const MAX_EXACT = 10_000;
const TTL_MS = 30_000;
const CACHED = 1000;

interface CacheEntry {
  readonly total: number;
  readonly until: number;
}

/** Counts the records of a filter. */
export type CountTotal<R extends StoredRecord> = (
  collection: Collection<R>,
  filter: Filter<R>,
) => Promise<number>;

/**
 * Totals of one list over the records of all owners. Counting reads every record, so a large total is cached: every page
 * after the first costs the same, however many records there are.
 */
export function createTotals<R extends StoredRecord>({ clock }: { readonly clock: Clock }): CountTotal<R> {
  const cached = new LRUCache<string, CacheEntry>(withMaxEntries(CACHED));
  return async (collection, filter) => {
    const key = JSON.stringify(filter);
    const known = cached.get(key);
    if (known !== undefined && known.until > clock.now()) return known.total;
    const total = await collection.count(filter);
    if (total > MAX_EXACT) cached.set(key, { total, until: clock.now() + TTL_MS });
    return total;
  };
}
