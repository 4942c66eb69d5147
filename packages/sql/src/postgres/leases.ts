import { StorageUnavailable } from '@questline/core/ports';
import { type Deadline, within } from '../deadline.ts';
import { createMutex } from '../mutex.ts';
import type { PooledClient, PostgresClient, PostgresConnection, PostgresPool } from './client.ts';

/** A leased connection. */
export interface Lease {
  readonly client: PostgresClient;
  /** Called once. `lost`: the connection is unusable. */
  end(lost: boolean): void;
}

export interface Leases {
  take(deadline: Deadline, signal?: AbortSignal): Promise<Lease>;
  /** Removes the listeners from the pool. Closes no connection. */
  close(): void;
}

/**
 * Leases connections of the user's pool. A connection that is lost during a lease is an incident: all connections older than the
 * last incident are replaced on their next lease, so that calls after an outage succeed
 * at once instead of after one timeout per connection.
 */
export function createPoolLeases(pool: PostgresPool): Leases {
  let incidents = 0;
  const bornIn = new WeakMap<PooledClient, number>();
  const onConnect = (client: PooledClient): void => {
    bornIn.set(client, incidents);
  };
  // Without a listener, the loss of an idle connection, e.g. on a server restart, would end the process.
  pool.on?.('error', ignore);
  pool.on?.('connect', onConnect);

  return {
    async take(deadline, signal) {
      for (;;) {
        signal?.throwIfAborted();
        const client = await connect(pool, deadline, signal);
        const born = bornIn.get(client) ?? (pool.on === undefined ? incidents : 0);
        bornIn.set(client, born);
        if (born < incidents) {
          client.release(true);
          continue;
        }
        // The same for a connection in use: its query rejects anyway.
        client.on?.('error', ignore);
        return {
          client,
          end(lost) {
            if (lost) incidents += 1;
            client.removeListener?.('error', ignore);
            client.release(lost);
          },
        };
      }
    },
    close() {
      pool.removeListener?.('error', ignore);
      pool.removeListener?.('connect', onConnect);
    },
  };
}

async function connect(
  pool: PostgresPool,
  deadline: Deadline,
  signal: AbortSignal | undefined,
): Promise<PooledClient> {
  const connecting = pool.connect().catch((error: unknown) => {
    throw new StorageUnavailable('PostgreSQL cannot be reached', { cause: error });
  });
  return within(connecting, deadline, 'connecting to PostgreSQL', {
    signal,
    onLate: (client) => client.release(),
  });
}

/** Serializes the calls on a single connection. */
export function createConnectionLeases(connection: PostgresConnection): Leases {
  const mutex = createMutex('the PostgreSQL connection');
  const client: PostgresClient = {
    query: ({ text, values }) => connection.query(text, values),
    ...(connection.exec && { exec: connection.exec.bind(connection) }),
  };
  return {
    async take(deadline, signal) {
      const end = await mutex.lock(deadline, signal);
      return { client, end };
    },
    close() {},
  };
}

function ignore(): void {}
