import { StorageUnavailable } from '@questline/core';
import { type Deadline, within } from '../deadline.ts';
import { createTurns } from '../turns.ts';
import type { PooledClient, PostgresClient, PostgresConnection, PostgresPool } from './client.ts';

/** A connection for a while. */
export interface Lease {
  readonly client: PostgresClient;
  /** `lost`: the connection is of no use any more. */
  end(lost: boolean): void;
}

export interface Leases {
  take(deadline: Deadline, signal?: AbortSignal): Promise<Lease>;
  /** Lets go of the pool. Ends no connection. */
  close(): void;
}

/**
 * Connections out of the user's pool. A connection that was lost in our hands is an incident: all that are older than the
 * last incident are suspected of the same and replaced when their turn comes, so that a network that came back is used
 * again at once instead of after one time-out per connection.
 */
export function createPoolLeases(pool: PostgresPool): Leases {
  let incidents = 0;
  const bornIn = new WeakMap<PooledClient, number>();
  const onConnect = (client: PooledClient): void => {
    bornIn.set(client, incidents);
  };
  // Without a listener the loss of an idle connection, e.g. when the server restarts, ends the whole process.
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
        // The same for a connection in use: its query rejects, which is enough.
        client.on?.('error', ignore);
        let isOver = false;
        return {
          client,
          end(lost) {
            if (isOver) return;
            isOver = true;
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

/** Turns on the one connection there is. */
export function createConnectionLeases(connection: PostgresConnection): Leases {
  const turns = createTurns('the PostgreSQL connection');
  const client: PostgresClient = {
    query: ({ text, values }) => connection.query(text, values),
    ...(connection.exec && { exec: connection.exec.bind(connection) }),
  };
  return {
    async take(deadline, signal) {
      const end = await turns.take(deadline, signal);
      return { client, end };
    },
    close() {},
  };
}

function ignore(): void {}
