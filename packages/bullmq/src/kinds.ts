import { createRedisBackend, type IQueueBackend, type RedisConnectionClient } from 'bullmq';
import { createLanes, type Lanes } from './lanes.ts';

/** The BullMQ queues of each job kind: one per owner, and one for jobs without an owner. All share the user's connection. */
export interface Kinds {
  readonly lanes: Lanes;
  of(kind: string, owner?: string): IQueueBackend;
  /** Records in Redis that jobs of this kind exist. */
  remember(kind: string): Promise<void>;
  all(): Promise<readonly string[]>;
  /** Removes our listeners from the connection, which stays open. */
  close(): Promise<void>;
}

export interface KindsOptions {
  readonly connection: RedisConnectionClient;
  readonly prefix: string;
  readonly name: string;
  /** BullMQ's lock duration for a job. */
  readonly lockMs: number;
}

/** Maximum of cached queue handles; others are created again on demand. */
const MAX_BACKENDS = 5000;

export function createKinds({ connection, prefix, name, lockMs }: KindsOptions): Kinds {
  const options = {
    connection,
    prefix,
    // Do not wait for Redis to be ready: it may be unreachable when the process starts and come back later.
    skipVersionCheck: true,
    skipWaitingForReady: true,
    lockDuration: lockMs,
    // Never fail a job for stalling too often; stalled jobs are looked up on demand.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    stalledInterval: 1,
  };
  const root = createRedisBackend(name, options);
  // The user handles connection errors on the connection; an unhandled copy here would end the process.
  root.on('error', () => undefined);
  const backends = new Map<string, IQueueBackend>();
  const remembered = new Set<string>();
  const list = root.toKey('kinds');

  const getBackend = (kind: string, owner = ''): IQueueBackend => {
    // BullMQ uses the colon as a separator.
    const lane = owner === '' ? '' : `@${encodeURIComponent(owner)}`;
    const queue = `${name}.${encodeURIComponent(kind)}${lane}`;
    const backend = backends.get(queue) ?? root.forQueue(queue, prefix);
    if (backends.size >= MAX_BACKENDS) backends.clear();
    backends.set(queue, backend);
    return backend;
  };

  return {
    lanes: createLanes({ root, backend: getBackend }),
    of: getBackend,
    async remember(kind) {
      if (remembered.has(kind)) return;
      const client = await root.client;
      await client.hset(list, { [kind]: 1 });
      remembered.add(kind);
    },
    async all() {
      const client = await root.client;
      return Object.keys(await client.hgetall(list));
    },
    close: () => root.close(),
  };
}
