import type { SqlDatabase } from '../database.ts';
import { createGrouping } from '../grouping.ts';
import { defineStatement, type SqlStatement } from '../statement.ts';

/** A job as a row, with its payload as JSON text. */
export interface AddedJob {
  readonly id: string;
  readonly key: string;
  readonly kind: string;
  readonly owner: string;
  readonly payload: string;
  readonly runAt: number;
  /** 1 if it is due. */
  readonly ready: number;
}

/** Maximum number of jobs of one statement. */
const MAX_GROUP = 64;

/** @returns a function that adds a job; false: a job has its key. On PostgreSQL, jobs that come at once share a commit. */
export function createAdditions(database: SqlDatabase) {
  const { dialect, names, run } = database;
  const insert = `insert into ${names.table('jobs')} (id, key, kind, owner, payload, run_at, due_at, ready, attempt, fence)`;
  const add = defineStatement<keyof AddedJob>(
    dialect,
    `${insert} values (@id, @key, @kind, @owner, @payload, @runAt, @runAt, @ready, 0, 0)
     on conflict (key) do nothing returning id`,
  );
  const isAdded = async (statement: SqlStatement, options: Parameters<typeof run>[1]): Promise<boolean> =>
    (await run(statement, options)).length === 1;
  if (dialect === 'sqlite')
    return (job: AddedJob, options?: Parameters<typeof run>[1]) => isAdded(add({ ...job }), options);

  // In the order of the keys: statements of two processes wait for each other's keys in one order.
  const addAll = defineStatement<'jobs'>(
    dialect,
    `${insert}
     select id, key, kind, owner, cast(payload as jsonb), "runAt", "runAt", ready, 0, 0
     from jsonb_to_recordset(cast(@jobs as jsonb)) as given(
       id text, key text, kind text, owner text, payload text, "runAt" bigint, ready integer
     ) order by key collate "C" on conflict (key) do nothing returning id`,
  );
  return createGrouping<AddedJob, boolean>({
    max: MAX_GROUP,
    timeoutMs: database.timeoutMs,
    async runAll(jobs, options) {
      const added = new Set((await run(addAll({ jobs: JSON.stringify(jobs) }), options)).map(({ id }) => id));
      return jobs.map(({ id }) => added.has(id));
    },
    runOne: (job, options) => isAdded(add({ ...job }), options),
  });
}
