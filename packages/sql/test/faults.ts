import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Random } from '@questline/testing';
import type { Pool, PoolClient } from 'pg';
import type { PostgresPool } from '../src/index.ts';

/** The fault of a statement. `lost`: it takes effect, but its result is lost. */
export type Fault = 'none' | 'failed' | 'lost' | 'late' | 'crashed';

export interface Faults {
  next(): Fault;
  readonly counts: Readonly<Record<Fault, number>>;
}

/** Random faults, equal for equal seeds. */
export function createFaults(random: Random, probability: number, kinds: readonly Fault[]): Faults {
  const counts: Record<Fault, number> = { none: 0, failed: 0, lost: 0, late: 0, crashed: 0 };
  return {
    counts,
    next() {
      const fault = random.chance(probability) ? random.pick(kinds) : 'none';
      counts[fault] += 1;
      return fault;
    },
  };
}

/** A pool whose connections break: before a statement reaches the server, or before its answer comes back. */
export function faultyPool(pool: Pool, faults: Faults): PostgresPool {
  const wrap = (client: PoolClient) => ({
    async query(config: { text: string; values?: unknown[]; name?: string }) {
      const fault = faults.next();
      if (fault === 'failed') throw connectionLost();
      if (fault === 'late') await new Promise((resolve) => setTimeout(resolve, 3));
      const result = await client.query(config);
      if (fault === 'lost' || fault === 'crashed') throw connectionLost();
      return result;
    },
    release: (destroy?: boolean) => client.release(destroy),
  });
  return {
    async connect() {
      return wrap(await pool.connect());
    },
  };
}

function connectionLost(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

/**
 * A connection with disk errors, before or after a statement. `crashed` simulates a killed process: the
 * connection is closed and uncommitted changes are lost.
 */
export function faultyDatabase(database: DatabaseSync, faults: Faults): DatabaseSync {
  const wrap = (statement: StatementSync) => ({
    all(...values: Parameters<StatementSync['all']>) {
      const fault = faults.next();
      if (fault === 'crashed') database.close();
      if (fault === 'failed' || fault === 'crashed') throw diskFailed();
      const rows = statement.all(...values);
      if (fault === 'lost') throw diskFailed();
      return rows;
    },
  });
  return {
    prepare: (sql: string) => wrap(database.prepare(sql)),
    function: database.function.bind(database),
  } as unknown as DatabaseSync;
}

/** SQLITE_IOERR. */
function diskFailed(): Error {
  return Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
}
