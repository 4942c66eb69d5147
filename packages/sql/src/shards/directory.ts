import { createHash } from 'node:crypto';
import { type CallOptions, defineCollection, type Store, type StoredRecord } from '@questline/core/ports';

/** The shard of an owner. The id is the owner's. */
export interface ShardPlacementRecord extends StoredRecord {
  readonly shard: string;
  /** By account: the former shards, which keep its history, oldest first. */
  readonly former?: Readonly<Record<string, readonly FormerShard[]>>;
}

/** A part of the history of an account, in a database that the account has left. */
export interface FormerShard {
  readonly shard: string;
  /** The last position of the part in exports of the account. */
  readonly position: number;
  /** The id of the last entry in that database. */
  readonly entry: string;
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
  /** Returns the former shards of an account of this owner. Without it, owners never move. */
  findFormer?(owner: string, account: string, options?: CallOptions): Promise<readonly FormerShard[]>;
  /** Forgets what the process remembers, because an owner has moved. */
  forget?(): void;
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
  const remembered = createCache<ShardPlacementRecord>(MAX_REMEMBERED);

  const read = async (owner: string, call?: CallOptions): Promise<ShardPlacementRecord | undefined> => {
    const known = remembered.get(owner);
    if (known !== undefined) return known;
    const placed = await placements.get(owner, undefined, call);
    if (placed !== undefined) remembered.set(owner, placed);
    return placed;
  };

  return {
    find: async (owner, call) => (await read(owner, call))?.shard,
    async place(owner, call) {
      const known = await read(owner, call);
      if (known !== undefined) return known.shard;
      const chosen = { id: owner, shard: choose(owner, shards) };
      if (await placements.insert(chosen, call)) {
        remembered.set(owner, chosen);
        return chosen.shard;
      }
      const winner = await read(owner, call);
      if (winner === undefined) throw new Error('a placement disappeared');
      return winner.shard;
    },
    findFormer: async (owner, account, call) => (await read(owner, call))?.former?.[account] ?? [],
    forget: () => remembered.clear(),
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

/** Forgets the entries that were set first. */
export interface Cache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
  delete(key: string): void;
  clear(): void;
}

export type PlaceCache = Cache<string>;

export function createCache<T>(limit: number): Cache<T> {
  const entries = new Map<string, T>();
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
    clear: () => entries.clear(),
  };
}
