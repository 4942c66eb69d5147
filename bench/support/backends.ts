import { readFileSync } from 'node:fs';
import type { Pool } from 'pg';

/** Linux counts the time of processes in 1/100 s. */
const TICK_US = 10_000;

/** The `application_name` of connections that are not measured. */
export const NOT_MEASURED = 'questline-bench-reader';

/** User and system time of the backends of a database on this machine, in microseconds. */
export async function readBackendTime(pool: Pool, database: string): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = $1 and backend_type = 'client backend' and application_name <> $2",
    [database, NOT_MEASURED],
  );
  let ticks = 0;
  for (const { pid } of rows) {
    // After the name, which may contain spaces: state is the first field, utime the 12th, stime the 13th.
    const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) /);
    const list = fields.split(' ');
    ticks += Number(list[11]) + Number(list[12]);
  }
  return ticks * TICK_US;
}
