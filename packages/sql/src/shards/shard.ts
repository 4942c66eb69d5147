import type { Clock, CollectionDefinition, StoredRecord } from '@questline/core/ports';
import { createHomeLedger } from './copied-ports.ts';
import { createCache, createShardDirectory, type PlaceCache, type ShardDirectory } from './directory.ts';
import { createShardedEventLog } from './event-log.ts';
import { guardNode } from './guard.ts';
import { createShardedLedger } from './ledger.ts';
import { createShardedLimiter } from './limiter.ts';
import { createMoveWatch, type MoveWatch } from './moves.ts';
import { createShardNodes, mapNodes, type ShardPorts } from './nodes.ts';
import type { Placement } from './placement.ts';
import { createShardedQueue } from './queue.ts';
import { createShardRouter } from './router.ts';
import { createShardedStore } from './store.ts';

export interface ShardOptions {
  /** The database of accounts, keys, settings, organizations and placements. It may be one of the shards. */
  readonly home: ShardPorts;
  /** The databases of owners, by name. A name never changes. */
  readonly shards: Readonly<Record<string, ShardPorts>>;
  /** Default: one in the home database, in which all shards receive new owners. */
  readonly directory?: ShardDirectory;
  /** Places of the host's collections. Default: by their column `ownerId` or `userId`. */
  readonly placements?: Readonly<Record<string, Placement>>;
  /**
   * True: an insert first asks the other databases for the id. Only for ids that the host chooses itself: those of
   * Questline are never equal. Default false.
   */
  readonly checksIds?: boolean;
  /**
   * `owner`: an account is in the database of its owner; a cap that accounts of two databases share is checked in each.
   * `home`: all accounts are in the home database, and every cap is exact. Default `owner`.
   */
  readonly accounts?: 'owner' | 'home';
  /** Whether the owner of a job or an account has a place. Default: ids of Questline. */
  readonly isOwner?: (name: string) => boolean;
  /** The owner of an event stream. Default: streams are where the quest with their id is. */
  readonly getStreamOwner?: (stream: string) => string | undefined;
  /** How old the knowledge about moves of owners is. Default: the system's time. */
  readonly clock?: Pick<Clock, 'now'>;
}

const ID = /^[0-9a-f]{24}$/;
/** Places of records that a process remembers: about 15 MB. */
const MAX_SEEN = 100_000;

/** Several databases behind one set of ports: the records of an owner are in one of them. */
export function shard(options: ShardOptions): ShardPorts {
  const { home, shards, placements, getStreamOwner = () => undefined } = options;
  const { isOwner = (name) => ID.test(name), clock = Date } = options;
  const base = options.directory ?? createShardDirectory({ store: home.store, shards: Object.keys(shards) });
  const remembered = createCache<string>(MAX_SEEN);
  const watch = createMoveWatch({
    store: home.store,
    clock,
    onChange() {
      remembered.clear();
      base.forget?.();
    },
  });
  const definitions = new Map<string, CollectionDefinition<StoredRecord>>();
  const guarded = { watch, placements, getDefinition: (name: string) => definitions.get(name) };
  const nodes = mapNodes(createShardNodes(home, shards), (node) => guardNode(node, guarded));
  const read = (node: ShardPorts, definition: Parameters<ShardPorts['store']['collection']>[0]) =>
    node.store.collection(definition);
  const directory = watchDirectory(base, watch);
  const router = createShardRouter(nodes, { directory, read }, placements, definitions);
  const seen = watchPlaces(remembered, watch);
  /** Identifies the writes that jobs and charges add to those of the store. */
  const engine = {};
  return {
    store: createShardedStore(router, seen, engine, watch, options.checksIds),
    ledger:
      options.accounts === 'home'
        ? createHomeLedger(home.ledger)
        : createShardedLedger(router, seen, engine, watch, isOwner),
    queue: createShardedQueue(router, seen, engine, watch, isOwner),
    limiter: createShardedLimiter(router, isOwner),
    eventLog: createShardedEventLog(router, seen, watch, getStreamOwner),
  };
}

/** A directory that refuses owners whose data may be in two databases now. */
function watchDirectory(base: ShardDirectory, watch: MoveWatch): ShardDirectory {
  const check = async (owner: string): Promise<void> => {
    await watch.refresh();
    watch.assertOpen(owner);
  };
  const { findFormer } = base;
  return {
    async find(owner, call) {
      await check(owner);
      return base.find(owner, call);
    },
    async place(owner, call) {
      await check(owner);
      return base.place(owner, call);
    },
    ...(findFormer !== undefined && {
      async findFormer(owner, account, call) {
        await check(owner);
        return findFormer(owner, account, call);
      },
    }),
  };
}

/** Remembered places, without those in databases from or to which owners move now. */
function watchPlaces(places: PlaceCache, watch: MoveWatch): PlaceCache {
  return {
    ...places,
    get(key) {
      const shard = places.get(key);
      return shard === undefined || watch.involves(shard) ? undefined : shard;
    },
  };
}
