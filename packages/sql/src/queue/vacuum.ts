import type { SqlDatabase } from '../database.ts';

/** Number of leased jobs of this process between two vacuums. */
const EVERY_JOBS = 1000;

const TIMEOUT_MS = 60_000;

/**
 * Lets PostgreSQL clean the table of jobs. Each leased job leaves a dead entry in the index of ready jobs, in front of the
 * jobs that are next, so a claim reads more pages with each job that was leased since the last vacuum. The server's own one
 * comes once a minute at most.
 * @returns takes the number of jobs of a claim; does not wait.
 */
export function createVacuum(database: SqlDatabase): (jobs: number) => void {
  // A connection that is not of a pool may be in a transaction, in which there is no vacuum.
  if (database.dialect === 'sqlite' || database.listen === undefined) return () => {};
  // Truncation would lock out reads of replicas.
  const sql = `vacuum (skip_locked, index_cleanup, truncate off) ${database.names.table('jobs')}`;
  let leased = 0;
  let isRunning = false;
  return (jobs) => {
    leased += jobs;
    if (leased < EVERY_JOBS || isRunning) return;
    leased = 0;
    isRunning = true;
    const end = (): void => {
      isRunning = false;
    };
    // Without it, claims are slower.
    database.run({ sql, parameters: [] }, { timeoutMs: TIMEOUT_MS }).then(end, end);
  };
}
