import type { Clock } from '../ports/clock.ts';
import type { ExpiringRecords } from '../ports/expiring.ts';

interface Entry {
  readonly value: string;
  readonly until: number;
}

/** Expiring records in memory. Memory use depends on the number of live records. */
export function createMemoryExpiringRecords({ clock }: { clock: Clock }): ExpiringRecords {
  const entries = new Map<string, Entry>();
  let visits = entries.entries();

  /** Every `create` checks two other records for expiry, so that no timer is needed. */
  const forgetOver = (now: number): void => {
    for (let looked = 0; looked < 2; looked += 1) {
      const visit = visits.next();
      if (visit.done === true) {
        visits = entries.entries();
        return;
      }
      const [key, { until }] = visit.value;
      if (until <= now) entries.delete(key);
    }
  };

  const find = (key: string): string | undefined => {
    const entry = entries.get(key);
    return entry !== undefined && entry.until > clock.now() ? entry.value : undefined;
  };

  const keep = (key: string, value: string, lifeMs: number): void => {
    const now = clock.now();
    entries.set(key, { value, until: now + lifeMs });
    forgetOver(now);
  };

  return {
    async create(key, value, lifeMs, options) {
      options?.signal?.throwIfAborted();
      if (find(key) !== undefined) return false;
      keep(key, value, lifeMs);
      return true;
    },
    async get(key, options) {
      options?.signal?.throwIfAborted();
      return find(key);
    },
    async take(key, options) {
      options?.signal?.throwIfAborted();
      const value = find(key);
      entries.delete(key);
      return value;
    },
    async set(key, value, lifeMs, options) {
      options?.signal?.throwIfAborted();
      keep(key, value, lifeMs);
    },
    async remove(key, options) {
      options?.signal?.throwIfAborted();
      entries.delete(key);
    },
  };
}
