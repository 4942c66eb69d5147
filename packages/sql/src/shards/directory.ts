import { createHash } from 'node:crypto';
import { type CallOptions, defineCollection, type Store, type StoredRecord } from '@questline/core/ports';

/** The shard of an owner. The id is the owner's. */
export interface ShardPlacementRecord extends StoredRecord {
  readonly shard: string;
}

/** Kept in the home database. */
export const SHARD_PLACEMENTS = defineCollection<ShardPlacementRecord>({
  name: 'shard_placements',
  columns: { shard: 'text' },
  unique: [],
  indexes: [['shard']],
});

/** Remembers the shard of every owner. A placement never changes by itself: a new shard receives only new owners. */
export interface ShardDirectory {
  /** Returns the shard of an owner, or `undefined` before the first `place`. */
  find(owner: string, options?: CallOptions): Promise<string | undefined>;
  /** Returns the shard of an owner, after choosing one for a new owner. All processes get the same. */
  place(owner: string, options?: CallOptions): Promise<string>;
}

export interface ShardDirectoryOptions {
  /** The store of the home database. */
  readonly store: Store;
  /** The shards that receive new owners. */
  readonly shards: readonly string[];
  /** Chooses the shard of a new owner. Default: rendezvous hashing, which spreads owners evenly. */
  readonly choose?: (owner: string, shards: readonly string[]) => string;
}

/** Placements that a process remembers: about 15 MB. */
const MAX_REMEMBERED = 100_000;

export function createShardDirectory(options: ShardDirectoryOptions): ShardDirectory {
  const { store, shards, choose = chooseByHash } = options;
  const placements = store.collection(SHARD_PLACEMENTS);
  const remembered = createPlaceCache(MAX_REMEMBERED);

  const find = async (owner: string, call?: CallOptions): Promise<string | undefined> => {
    const known = remembered.get(owner);
    if (known !== undefined) return known;
    const placed = await placements.get(owner, undefined, call);
    if (placed !== undefined) remembered.set(owner, placed.shard);
    return placed?.shard;
  };

  return {
    find,
    async place(owner, call) {
      const known = await find(owner, call);
      if (known !== undefined) return known;
      const shard = choose(owner, shards);
      if (await placements.insert({ id: owner, shard }, call)) {
        remembered.set(owner, shard);
        return shard;
      }
      const winner = await find(owner, call);
      if (winner === undefined) throw new Error('a placement disappeared');
      return winner;
    },
  };
}

function chooseByHash(owner: string, shards: readonly string[]): string {
  let best: { readonly shard: string; readonly weight: string } | undefined;
  for (const shard of shards) {
    const weight = createHash('sha256')
      .update(JSON.stringify([shard, owner]))
      .digest('hex');
    if (best === undefined || weight > best.weight) best = { shard, weight };
  }
  if (best === undefined) throw new TypeError('no shard receives new owners');
  return best.shard;
}

export interface PlaceCache {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
  delete(key: string): void;
}

/** Forgets the entries that were set first. */
export function createPlaceCache(limit: number): PlaceCache {
  const entries = new Map<string, string>();
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= limit) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
    delete: (key) => void entries.delete(key),
  };
}
