import { StorageUnavailable } from '@questline/core/ports';
import type { PostgresDatabase, SqlConnection, TransactionOptions } from '../database.ts';
import { createDeadline, type Deadline, pause, within } from '../deadline.ts';
import { createNames } from '../names.ts';
import type { SqlRow, SqlStatement } from '../statement.ts';
import { runWork } from '../work.ts';
import type { PostgresClient, PostgresConnection, PostgresPool } from './client.ts';
import { isConflict, toStorageError } from './errors.ts';
import { createConnectionLeases, createPoolLeases } from './leases.ts';
import { createListen } from './listen.ts';
import { createReplicaReads, type PostgresReplica } from './replicas.ts';
import { createRowMutexes } from './row-mutexes.ts';

export interface PostgresOptions {
  /**
   * Your own pool; the handle never ends it. Set `connectionTimeoutMillis` (5000 or less): only the pool can abandon
   * a connection attempt on a frozen network.
   */
  readonly pool?: PostgresPool;
  /** Instead of `pool`: one connection, used by one call at a time. A lost connection is not replaced. */
  readonly connection?: PostgresConnection;
  /** An existing schema. Default: the first one in the connection's search path. */
  readonly schema?: string;
  /** The prefix of every table name. Default `questline_`. */
  readonly prefix?: string;
  /** Milliseconds until a call gives up with a `StorageUnavailable`. Default 4500. */
  readonly timeoutMs?: number;
  /** Keep frequent statements prepared on each connection. Default true; false behind a pooler that shares connections between statements. */
  readonly prepare?: boolean;
  /** Read lists, counts and reports, as long as they have every commit that was made before. Default none. */
  readonly replicas?: readonly PostgresReplica[];
}

/** PostgreSQL 12 or later. Your own tables can be in the same database. */
export function createPostgresDatabase({
  pool,
  connection,
  schema,
  prefix,
  timeoutMs = 4500,
  prepare = true,
  replicas = [],
}: PostgresOptions): PostgresDatabase {
  if ((pool === undefined) === (connection === undefined)) throw new TypeError('either pool or connection');
  const names = createNames({ ...(prefix !== undefined && { prefix }), schema });
  const leases =
    connection === undefined ? createPoolLeases(pool as PostgresPool) : createConnectionLeases(connection);
  const rows = createRowMutexes();

  const query = async (
    client: PostgresClient,
    { sql, parameters, name }: SqlStatement,
    deadline: Deadline,
  ): Promise<readonly SqlRow[]> => {
    const isPrepared = prepare && name !== undefined;
    const answer = client.query({ text: sql, values: parameters as unknown[], ...(isPrepared && { name }) });
    const { rows } = await within(answer, deadline, 'a PostgreSQL statement').catch(throwStorageError);
    return rows as SqlRow[];
  };

  const control = async (client: PostgresClient, text: string, limit: number): Promise<void> => {
    const answer = client.exec === undefined ? client.query({ text }) : client.exec(text);
    await within(answer, createDeadline(limit), 'a PostgreSQL statement').catch(throwStorageError);
  };

  const useConnection = async <T>(
    deadline: Deadline,
    signal: AbortSignal | undefined,
    use: (client: PostgresClient) => Promise<T>,
  ): Promise<T> => {
    const lease = await leases.take(deadline, signal);
    let lost = false;
    try {
      signal?.throwIfAborted();
      return await use(lease.client);
    } catch (error) {
      // A statement continues after its deadline, so its connection cannot be reused.
      lost = error instanceof StorageUnavailable;
      throw error;
    } finally {
      lease.end(lost);
    }
  };

  /** A conflict with another transaction has no effect: retry. */
  const despiteConflicts = async <T>(deadline: Deadline, attempt: () => Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (!isConflict(error)) throw error;
        if (deadline.left() === 0) {
          throw new StorageUnavailable('too many conflicting transactions', { cause: error });
        }
      }
      await pause(tries, deadline);
    }
  };

  const standbys = replicas.map(({ pool: reading, onState }) => ({
    ...createPostgresDatabase({ pool: reading, timeoutMs, prepare }),
    onState,
  }));

  const database: PostgresDatabase = {
    dialect: 'postgres',
    names,
    timeoutMs,
    ...(pool !== undefined && { listen: createListen(pool) }),

    async run(statement, options) {
      options?.signal?.throwIfAborted();
      const deadline = createDeadline(options?.timeoutMs ?? timeoutMs);
      const attempt = () =>
        despiteConflicts(deadline, () =>
          useConnection(deadline, options?.signal, (client) => query(client, statement, deadline)),
        );
      if (statement.row === undefined) return attempt();
      const release = await rows.lock(statement.row, deadline, options?.signal);
      try {
        return await attempt();
      } finally {
        release();
      }
    },

    async transaction<T>(
      work: (connection: SqlConnection) => Promise<T>,
      { signal, isolation = 'serializable', timeoutMs: limit = timeoutMs }: TransactionOptions = {},
    ): Promise<T> {
      signal?.throwIfAborted();
      const deadline = createDeadline(limit);
      const run = (client: PostgresClient) => (statement: SqlStatement) =>
        query(client, statement, createDeadline(limit));

      return despiteConflicts(deadline, () =>
        useConnection(deadline, signal, async (client) => {
          // The server must release our locks soon after it loses the connection.
          const patience = Math.ceil(limit);
          await control(
            client,
            `begin isolation level ${isolation};` +
              `set local statement_timeout = ${patience};` +
              `set local idle_in_transaction_session_timeout = ${patience}`,
            limit,
          );
          try {
            const value = await runWork(run(client), work);
            await control(client, 'commit', limit);
            return value;
          } catch (error) {
            if (!(error instanceof StorageUnavailable)) await control(client, 'rollback', limit);
            throw error;
          }
        }),
      );
    },

    async close() {
      leases.close();
      await Promise.all(standbys.map(({ close }) => close()));
    },
  };
  return standbys.length === 0 ? database : { ...database, read: createReplicaReads(database, standbys) };
}

function throwStorageError(error: unknown): never {
  throw toStorageError(error);
}
