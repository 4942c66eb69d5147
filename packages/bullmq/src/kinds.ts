import { createRedisBackend, type IQueueBackend, type RedisConnectionClient } from 'bullmq';

/** The BullMQ queue of each kind of job, all on the user's one connection. */
export interface Kinds {
  of(kind: string): IQueueBackend;
  /** Remembers for everybody that there are jobs of this kind. */
  remember(kind: string): Promise<void>;
  all(): Promise<readonly string[]>;
  /** Takes our listeners off the connection, which stays open. */
  close(): Promise<void>;
}

export interface KindsOptions {
  readonly connection: RedisConnectionClient;
  readonly prefix: string;
  readonly name: string;
  /** How long BullMQ locks a job that is handed out. */
  readonly lockMs: number;
}

export function createKinds({ connection, prefix, name, lockMs }: KindsOptions): Kinds {
  const options = {
    connection,
    prefix,
    // No greeting, no waiting: a Redis that is away when the process starts is no reason never to use it.
    skipVersionCheck: true,
    skipWaitingForReady: true,
    lockDuration: lockMs,
    // A job is never given up for having lost its workers too often, and looked for whenever somebody asks.
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    stalledInterval: 1,
  };
  const root = createRedisBackend(name, options);
  // The user listens where the connection is made; unheard here, an error would end the process.
  root.on('error', () => undefined);
  const backends = new Map<string, IQueueBackend>();
  const remembered = new Set<string>();
  const list = root.toKey('kinds');

  return {
    of(kind) {
      // A colon would be taken for the end of the name.
      const backend = backends.get(kind) ?? root.forQueue(`${name}.${encodeURIComponent(kind)}`, prefix);
      backends.set(kind, backend);
      return backend;
    },
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
