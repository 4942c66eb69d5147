import { createPlaceCache, createShardDirectory, type ShardDirectory } from './directory.ts';
import { createShardedEventLog } from './event-log.ts';
import { createHomeLedger, createShardedLedger } from './ledger.ts';
import { createShardedLimiter } from './limiter.ts';
import { createShardNodes, type ShardPorts } from './nodes.ts';
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
}

const ID = /^[0-9a-f]{24}$/;
/** Places of records that a process remembers: about 15 MB. */
const MAX_SEEN = 100_000;

/** Several databases behind one set of ports: the records of an owner are in one of them. */
export function shard(options: ShardOptions): ShardPorts {
  const { home, shards, placements, getStreamOwner = () => undefined } = options;
  const { isOwner = (name) => ID.test(name) } = options;
  const directory =
    options.directory ?? createShardDirectory({ store: home.store, shards: Object.keys(shards) });
  const nodes = createShardNodes(home, shards);
  const read = (node: ShardPorts, definition: Parameters<ShardPorts['store']['collection']>[0]) =>
    node.store.collection(definition);
  const router = createShardRouter(nodes, { directory, read }, placements);
  const seen = createPlaceCache(MAX_SEEN);
  /** Identifies the writes that jobs and charges add to those of the store. */
  const engine = {};
  return {
    store: createShardedStore(router, seen, engine, options.checksIds),
    ledger:
      options.accounts === 'home'
        ? createHomeLedger(home.ledger)
        : createShardedLedger(router, seen, engine, isOwner),
    queue: createShardedQueue(router, seen, engine, isOwner),
    limiter: createShardedLimiter(router, isOwner),
    eventLog: createShardedEventLog(router, seen, getStreamOwner),
  };
}
