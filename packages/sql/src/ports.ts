import type { Clock, CreditLedger, EventLog, Ids, JobQueue, Store, VectorIndex } from '@questline/core/ports';
import type { SqlDatabase } from './database.ts';
import { createSqlEventLog } from './event-log.ts';
import { createSqlLedger } from './ledger.ts';
import { createSqlLimiter, type SqlLimiter, type SqlLimiterOptions } from './limiter.ts';
import { createSqlQueue, type SqlQueueOptions } from './queue.ts';
import { createSqlStore } from './store.ts';
import { createSqlVectors } from './vectors.ts';

export interface SqlPortsOptions
  extends Pick<SqlQueueOptions, 'listen' | 'publisher' | 'claimEveryMs'>,
    SqlLimiterOptions {
  readonly clock: Clock;
  readonly ids: Ids;
}

export interface SqlPorts {
  readonly store: Store;
  readonly ledger: CreditLedger;
  readonly queue: JobQueue;
  readonly limiter: SqlLimiter;
  readonly vectors: VectorIndex;
  readonly eventLog: EventLog;
}

/** All ports of this package on one handle. Run `migrate` first. */
export function createSqlPorts(
  database: SqlDatabase,
  { clock, ids, time, ...queue }: SqlPortsOptions,
): SqlPorts {
  return {
    store: createSqlStore(database),
    ledger: createSqlLedger(database, { clock, ids }),
    queue: createSqlQueue(database, { clock, ids, ...queue }),
    limiter: createSqlLimiter(database, time === undefined ? {} : { time }),
    vectors: createSqlVectors(database),
    eventLog: createSqlEventLog(database, { clock }),
  };
}
