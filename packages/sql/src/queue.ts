import { type Clock, createAlarm, type Ids, type JobQueue, type Json, type LeasedJob } from '@questline/core';
import type { SqlDatabase } from './database.ts';
import { defineStatement, type SqlRow, toNumber } from './statement.ts';
import { fromJson, toJsonText } from './store/json.ts';

export interface SqlQueueOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /**
   * PostgreSQL with a pool only: hears of jobs that other processes enqueue, too, at once instead of at the next poll.
   * Keeps one client of the pool for itself as long as somebody listens. All processes must agree on it. Default false.
   */
  readonly listen?: boolean;
}

/** Durable work in a table. Every verb is one statement. */
export function createSqlQueue(
  database: SqlDatabase,
  { clock, ids, listen = false }: SqlQueueOptions,
): JobQueue {
  const { dialect, names, run } = database;
  const table = names.table('jobs');
  const isSqlite = database.dialect === 'sqlite';
  const channel = names.schema === undefined ? names.plain('jobs') : `${names.schema}.${names.plain('jobs')}`;
  const hear = listen ? listenOn(database, channel) : undefined;
  const alarm = createAlarm(clock);
  let listeners = 0;
  let stopHearing: (() => void) | undefined;

  /** Those who listen in other processes hear of it when, and only when, the change has taken effect. */
  const notifying = (change: string): string =>
    listen
      ? `with job as (${change}) select id,
           case when cast(@runAt as bigint) <= cast(@now as bigint) then cast(pg_notify(@channel, '') as text) end as told
         from job`
      : change;
  const enqueue = defineStatement<'id' | 'key' | 'kind' | 'payload' | 'runAt' | 'now' | 'channel'>(
    dialect,
    notifying(
      `insert into ${table} (id, key, kind, payload, run_at, attempt, fence)
       values (@id, @key, @kind, @payload, @runAt, 0, 0) on conflict (key) do nothing returning id`,
    ),
  );
  const readByKey = defineStatement<'key'>(dialect, `select id from ${table} where key = @key`);
  const untilOfKind = isSqlite
    ? '(select value from json_each(@untils) where json_each.key = kind)'
    : 'cast(cast(@untils as jsonb) ->> kind as bigint)';
  const lease = defineStatement<'kinds' | 'limit' | 'now' | 'leaseUntil' | 'untils'>(
    dialect,
    `update ${table} set lease_until = coalesce(${untilOfKind}, @leaseUntil), attempt = attempt + 1, fence = fence + 1
     where sequence in (
       select sequence from ${table}
       where kind ${isSqlite ? 'in (select value from json_each(@kinds))' : '= any(@kinds)'}
         and run_at <= @now and (lease_until is null or lease_until <= @now)
       order by run_at, sequence limit @limit ${isSqlite ? '' : 'for update skip locked'}
     )
     returning sequence, id, kind, cast(payload as text) as payload, key, run_at, attempt, fence, lease_until`,
  );
  // Until somebody else has taken it, a worker whose lease ran out may still speak for the job.
  const isHeld = 'id = @id and fence = @fence and lease_until is not null';
  const renew = defineStatement<'id' | 'fence' | 'leaseUntil'>(
    dialect,
    `update ${table} set lease_until = @leaseUntil where ${isHeld} returning id`,
  );
  const finish = defineStatement<'id' | 'fence'>(
    dialect,
    `delete from ${table} where ${isHeld} returning id`,
  );
  const retry = defineStatement<'id' | 'fence' | 'runAt' | 'uncounted' | 'now' | 'channel'>(
    dialect,
    notifying(
      `update ${table} set lease_until = null, run_at = @runAt, attempt = attempt - @uncounted
       where ${isHeld} returning id`,
    ),
  );
  const count = defineStatement<'now'>(
    dialect,
    `select
       count(case when run_at <= @now and (lease_until is null or lease_until <= @now) then 1 end) as ready,
       count(case when run_at > @now and (lease_until is null or lease_until <= @now) then 1 end) as waiting,
       count(case when lease_until > @now then 1 end) as leased
     from ${table}`,
  );

  return {
    async enqueue({ kind, payload, key, runAt = clock.now() }, options) {
      const id = ids.next();
      const job = { id, key, kind, payload: toJsonText(payload, dialect), runAt, now: clock.now(), channel };
      for (;;) {
        if ((await run(enqueue(job), options)).length === 1) {
          alarm.ring(runAt);
          return { id, added: true };
        }
        const [known] = await run(readByKey({ key }), options);
        // Gone again: it was finished between the two looks, and the key is free.
        if (known !== undefined) return { id: String(known.id), added: false };
      }
    },

    async lease({ kinds, limit, leaseMs, leaseMsOf = {} }, options) {
      const now = clock.now();
      const untils = JSON.stringify(
        Object.fromEntries(Object.entries(leaseMsOf).map(([kind, ms]) => [kind, now + ms])),
      );
      const rows = await run(lease({ kinds, limit, now, leaseUntil: now + leaseMs, untils }), options);
      const jobs = [...rows].sort(byTurn).map(toLeasedJob);
      for (const until of new Set(jobs.map((job) => job.leaseUntil))) alarm.ring(until);
      return jobs;
    },

    async renew({ id, fence }, leaseMs, options) {
      const leaseUntil = clock.now() + leaseMs;
      const isRenewed = (await run(renew({ id, fence, leaseUntil }), options)).length === 1;
      if (isRenewed) alarm.ring(leaseUntil);
      return isRenewed;
    },

    async finish({ id, fence }, options) {
      return (await run(finish({ id, fence }), options)).length === 1;
    },

    async retry({ id, fence }, { runAt, countAttempt }, options) {
      const back = { id, fence, runAt, uncounted: countAttempt ? 0 : 1, now: clock.now(), channel };
      if ((await run(retry(back), options)).length === 0) return false;
      alarm.ring(runAt);
      return true;
    },

    onReady(listener) {
      const stop = alarm.listen(listener);
      let isOver = false;
      listeners += 1;
      if (listeners === 1) stopHearing = hear?.(() => alarm.ring(clock.now()));
      return () => {
        if (isOver) return;
        isOver = true;
        stop();
        listeners -= 1;
        if (listeners === 0) stopHearing?.();
      };
    },

    async counts(options) {
      const [row = {}] = await run(count({ now: clock.now() }), options);
      return { ready: toNumber(row.ready), delayed: toNumber(row.waiting), leased: toNumber(row.leased) };
    },
  };
}

function listenOn(database: SqlDatabase, channel: string): (ring: () => void) => () => void {
  if (database.dialect === 'sqlite' || database.listen === undefined) {
    throw new TypeError('listening for jobs needs a PostgreSQL pool');
  }
  const { listen } = database;
  return (ring) => listen(channel, ring);
}

/** The engines return changed rows in no order. */
function byTurn(a: SqlRow, b: SqlRow): number {
  return toNumber(a.run_at) - toNumber(b.run_at) || toNumber(a.sequence) - toNumber(b.sequence);
}

function toLeasedJob(row: SqlRow): LeasedJob {
  return {
    id: String(row.id),
    kind: String(row.kind),
    payload: fromJson<Json>(row.payload),
    key: String(row.key),
    attempt: toNumber(row.attempt),
    fence: toNumber(row.fence),
    leaseUntil: toNumber(row.lease_until),
  };
}
