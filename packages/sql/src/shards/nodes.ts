import {
  type CreditLedger,
  type EngineWrite,
  type EventLog,
  type JobQueue,
  type RateLimiter,
  StorageUnavailable,
  type Store,
} from '@questline/core/ports';

/** The ports of one database. */
export interface ShardPorts {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly queue: JobQueue;
  readonly limiter: RateLimiter;
  readonly eventLog: EventLog;
}

/** One database, by name. */
export interface ShardNode extends ShardPorts {
  readonly name: string;
}

/** All databases of one API. */
export interface ShardNodes {
  readonly home: ShardNode;
  /** With the home database. */
  readonly all: readonly ShardNode[];
  /** @throws StorageUnavailable for a shard of the directory that this process does not know. */
  get(name: string): ShardNode;
}

const HOME_NAME = 'home';

/** The home database may be one of the shards. */
export function createShardNodes(home: ShardPorts, shards: Readonly<Record<string, ShardPorts>>): ShardNodes {
  const nodes = Object.entries(shards).map(([name, ports]): ShardNode => ({ ...toPorts(ports), name }));
  const shared = Object.entries(shards).find(([, ports]) => ports === home)?.[0];
  if (nodes.length === 0) throw new TypeError('expected at least one shard');
  if (shared === undefined && HOME_NAME in shards)
    throw new TypeError('only the home database is named home');
  const sharedNode = nodes.find(({ name }) => name === shared);
  const homeNode = sharedNode ?? { ...toPorts(home), name: HOME_NAME };
  return toNodes(homeNode, sharedNode === undefined ? [...nodes, homeNode] : nodes);
}

function toNodes(home: ShardNode, all: readonly ShardNode[]): ShardNodes {
  const byName = new Map(all.map((node) => [node.name, node]));
  return {
    home,
    all,
    get(name) {
      const node = byName.get(name);
      if (node === undefined) throw new StorageUnavailable(`the shard ${name} is not configured`);
      return node;
    },
  };
}

/** The same databases, each of them changed. */
export function mapNodes({ home, all }: ShardNodes, change: (node: ShardNode) => ShardNode): ShardNodes {
  const changed = new Map(all.map((node) => [node, change(node)] as const));
  return toNodes(changed.get(home) ?? change(home), [...changed.values()]);
}

function toPorts({ store, ledger, queue, limiter, eventLog }: ShardPorts): ShardPorts {
  return { store, ledger, queue, limiter, eventLog };
}

/** A write of one of the databases, whose database is found when the write is made. */
export interface ShardWork {
  /** The database: by name, or that of an owner. Neither: the home database. */
  readonly node?: string | undefined;
  readonly owner?: string;
  /** @returns undefined if this database cannot make the write in a step with others. */
  build(node: ShardNode): EngineWrite | undefined;
}
