import { LRUCache } from 'lru-cache';
import { withMaxEntries } from './cache-size.ts';

/** How long a record counts, from the start of its read. Bounds the delay of a revocation by another process. */
const TTL_MS = 1500;
const REFRESH_EVERY_MS = 1000;
/** A record that was not used for this long is not read again. */
const IDLE_MS = 5000;
/** Fewer records cost less when each is read for its next use. */
const MIN_TOGETHER = 8;
/** Bounds how long one read keeps the event loop. */
const MAX_TOGETHER = 500;
const MAX_ENTRIES = 10_000;

/**
 * A cache of records that stays current. Records that many callers use are read again once a second, with one read for all,
 * in place of one read for each use.
 */
export interface RecentRecords<R> {
  /** Returns synchronously for a record that was read within the last 1.5 seconds. */
  find(key: string): R | undefined | Promise<R | undefined>;
  /** As `find`, but only what is cached. */
  peek(key: string): R | undefined;
  /** Evicts a record. No read that began before is cached. */
  forget(key: string): void;
  /** Evicts records, in the same way. */
  forgetAll(isForgotten: (record: R, key: string) => boolean): void;
  /** Ends the repeated reads. */
  close(): void;
}

interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** @returns a function that cancels the timer. */
  timer(ms: number, listener: () => void): () => void;
}

export interface RecentRecordsOptions<R> {
  readonly clock: Clock;
  read(key: string): Promise<R | undefined>;
  /** @param keys at most `maxTogether`. @returns the records that exist. */
  readAll(keys: readonly string[]): Promise<ReadonlyMap<string, R>>;
  /** Default 500. */
  readonly maxTogether?: number;
  /** Called with the error of a repeated read. Each record is then read for its next use. */
  onError(error: unknown): void;
}

interface Entry<R> {
  value: R;
  until: number;
  /** Undefined until the second use: most callers of one request do not come again. */
  usedAt: number | undefined;
}

type InUse<R> = readonly [key: string, entry: Entry<R>];

export function createRecentRecords<R extends object>(options: RecentRecordsOptions<R>): RecentRecords<R> {
  const { clock, read, readAll, maxTogether = MAX_TOGETHER, onError } = options;
  const entries = new LRUCache<string, Entry<R>>(withMaxEntries(MAX_ENTRIES));
  /** Eviction counter: a read that began before an eviction is not cached. */
  let evictions = 0;
  let cancelTimer: (() => void) | undefined;
  let isClosed = false;

  const peek = (key: string): R | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    const now = clock.now();
    entry.usedAt = now;
    armTimer();
    return entry.until > now ? entry.value : undefined;
  };

  const readOne = async (key: string): Promise<R | undefined> => {
    const until = clock.now() + TTL_MS;
    const before = evictions;
    const usedAt = entries.peek(key)?.usedAt;
    const value = await read(key);
    if (value !== undefined && evictions === before) entries.set(key, { value, until, usedAt });
    return value;
  };

  function armTimer(): void {
    if (isClosed || entries.size < MIN_TOGETHER) return;
    cancelTimer ??= clock.timer(REFRESH_EVERY_MS, () => void refresh());
  }

  /** The timer counts as armed until the end, so that no second round begins. */
  async function refresh(): Promise<void> {
    const usedAfter = clock.now() - IDLE_MS;
    const inUse = [...entries.entries()].filter(([, { usedAt = usedAfter }]) => usedAt > usedAfter);
    const isWorthIt = inUse.length >= MIN_TOGETHER;
    try {
      for (let start = 0; isWorthIt && start < inUse.length && !isClosed; ) {
        await readAgain(inUse.slice(start, start + maxTogether));
        start += maxTogether;
        // Reads of a store in this process follow each other without a turn of the event loop.
        if (start < inUse.length) await new Promise<void>((resolve) => clock.timer(1, resolve));
      }
    } catch (error) {
      onError(error);
    }
    cancelTimer = undefined;
    if (isWorthIt) armTimer();
  }

  async function readAgain(some: readonly InUse<R>[]): Promise<void> {
    const until = clock.now() + TTL_MS;
    const found = await readAll(some.map(([key]) => key));
    for (const [key, entry] of some) {
      // Evicted, or read by a request, since this read began.
      if (entries.peek(key) !== entry) continue;
      const value = found.get(key);
      if (value === undefined) entries.delete(key);
      else Object.assign(entry, { value, until });
    }
  }

  return {
    find: (key) => peek(key) ?? readOne(key),
    peek,
    forget(key) {
      evictions += 1;
      entries.delete(key);
    },
    forgetAll(isForgotten) {
      evictions += 1;
      for (const [key, { value }] of [...entries.entries()]) if (isForgotten(value, key)) entries.delete(key);
    },
    close() {
      isClosed = true;
      cancelTimer?.();
    },
  };
}
