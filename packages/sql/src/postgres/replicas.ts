import { isStorageUnavailable } from '@questline/core/ports';
import type { PostgresDatabase } from '../database.ts';
import { createDeadline } from '../deadline.ts';
import { defineStatement } from '../statement.ts';
import type { PostgresPool } from './client.ts';
import { createReplicaGate, type ReplicaGate, type ReplicaState } from './replica-gate.ts';

/** A streaming replica (hot standby) of the database. Its pool must reach one server only. */
export interface PostgresReplica {
  /** Your own pool; the handle never ends it. */
  readonly pool: PostgresPool;
  /** Called when the replica starts to be used, and when that changes. The error says why it failed. What it throws is ignored. */
  readonly onState?: ((state: ReplicaState, error?: unknown) => void) | undefined;
}

type Run = PostgresDatabase['run'];

interface Reader {
  readonly run: Run;
  readonly gate: ReplicaGate;
}

/** Milliseconds for a look at the position of a server. */
const LOOK_MS = 500;

// Without a named schema, the search path of each connection decides which tables are read.
const getPlace = defineStatement<'schema'>(
  'postgres',
  `select current_database() as name, coalesce(cast(@schema as text), current_schema()) as schema,
     cast(system_identifier as text) as system
   from pg_control_system()`,
);
// A commit is visible after its flush only, unless `synchronous_commit` is off.
const getFlushed = defineStatement('postgres', 'select cast(pg_current_wal_flush_lsn() as text) as position');
const getReplayed = defineStatement<'position'>(
  'postgres',
  `select pg_is_in_recovery() as follows,
     coalesce(pg_last_wal_replay_lsn() >= cast(@position as pg_lsn), false) as reached`,
);

/**
 * Runs a statement that only reads: on the replicas in turn, while they have every commit that was made before the call, and
 * otherwise on the primary. So it never misses what was written before it.
 */
export function createReplicaReads(
  primary: Pick<PostgresDatabase, 'run' | 'timeoutMs' | 'names'>,
  replicas: readonly (Pick<PostgresDatabase, 'run'> & Pick<PostgresReplica, 'onState'>)[],
): Run {
  const readers = replicas.map(({ run, onState }): Reader => {
    const gate = createGate(primary, run, (state, error) => {
      try {
        onState?.(state, error);
      } catch {
        // Reads do not depend on who watches them.
      }
    });
    return { run, gate };
  });
  let turn = 0;

  return async (statement, options = {}) => {
    const open = readers.filter(({ gate }) => gate.isOpen());
    turn += 1;
    const reader = open[turn % open.length];
    const deadline = createDeadline(options.timeoutMs ?? primary.timeoutMs);
    const readPrimary = () => primary.run(statement, { ...options, timeoutMs: deadline.left() });
    if (reader === undefined || !(await reader.gate.pass())) return readPrimary();
    try {
      return await reader.run(statement, { ...options, timeoutMs: deadline.left() / 2 });
    } catch (error) {
      if (options.signal?.aborted === true) throw error;
      if (isStorageUnavailable(error)) reader.gate.fail(error);
      const rows = await readPrimary();
      // The statement is right, so the replica is not: its user may not read the tables, for example.
      reader.gate.fail(error);
      return rows;
    }
  };
}

function createGate(
  { run: primary, names }: Pick<PostgresDatabase, 'run' | 'names'>,
  replica: Run,
  onState: (state: ReplicaState, error?: unknown) => void,
): ReplicaGate {
  let same: Promise<void> | undefined;
  const look = { timeoutMs: LOOK_MS };
  return createReplicaGate({
    async getPosition() {
      same ??= assertSame([primary, replica], names.schema).catch((error: unknown) => {
        same = undefined;
        throw error;
      });
      await same;
      const [row] = await primary(getFlushed({}), look);
      return String(row?.position);
    },
    async hasReplayed(position) {
      const [row] = await replica(getReplayed({ position }), look);
      if (row?.follows !== true) throw new Error('the server does not follow another one');
      return row.reached === true;
    },
    onState,
  });
}

/** @throws Error unless all read the same tables: those of one schema, database and cluster. */
async function assertSame(servers: readonly Run[], schema: string | undefined): Promise<void> {
  const places = await Promise.all(
    servers.map(async (run) => JSON.stringify(await run(getPlace({ schema }), { timeoutMs: LOOK_MS }))),
  );
  if (new Set(places).size > 1) throw new Error('the server has another database or schema');
}
