import { createJobNotifier } from '@questline/core/internal';
import type { Clock, Ids, JobQueue, Json, LeasedJob, Publisher } from '@questline/core/ports';
import type { SqlDatabase } from './database.ts';
import { createAdditions } from './queue/additions.ts';
import { createClaims, defineClaim, definePromotion, listRooms, mayHaveMore } from './queue/claim.ts';
import { createJobNotices } from './queue/notices.ts';
import { createPace } from './queue/pace.ts';
import { createVacuum } from './queue/vacuum.ts';
import { defineStatement, type SqlRow, toNumber } from './statement.ts';
import { defineConditional, toEngineWrite } from './store/engine-write.ts';
import { fromJson, toJsonText } from './store/json.ts';

/** `counts` stops here: a scrape of metrics costs the same behind any backlog. */
const MAX_COUNTED = 10_000;

const CLAIM_EVERY_MS = 10;

export interface SqlQueueOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /**
   * PostgreSQL with a pool only: `LISTEN` for jobs of other processes, instead of waiting for the next poll.
   * Reserves one client of the pool while there are listeners. All processes must use the same value. Default false.
   * Notices are sent outside of the transactions of jobs, at most every 25 ms by one process.
   */
  readonly listen?: boolean;
  /** Sends the notices instead of PostgreSQL, with any engine; then `listen` has no effect. */
  readonly publisher?: Publisher | undefined;
  /**
   * PostgreSQL only: minimum milliseconds between the starts of two claims of this process, 0 to 1,000; default 10. A claim costs
   * as much as the end of a turn, and one takes jobs for all slots that became free since the last. A claim that found as many
   * jobs as it may take is followed by the next at once.
   */
  readonly claimEveryMs?: number;
}

/** A durable queue in a table. Every operation is one statement; leasing takes more where jobs that became due are to be made ready first. */
export function createSqlQueue(
  database: SqlDatabase,
  { clock, ids, listen = false, publisher, claimEveryMs = CLAIM_EVERY_MS }: SqlQueueOptions,
): JobQueue {
  if (!(claimEveryMs >= 0 && claimEveryMs <= 1000)) {
    throw new RangeError(`claimEveryMs is 0 to 1,000, not ${claimEveryMs}`);
  }
  const { dialect, names, run } = database;
  const table = names.table('jobs');
  const channel = names.schema === undefined ? names.plain('jobs') : `${names.schema}.${names.plain('jobs')}`;
  const notices =
    listen || publisher !== undefined
      ? createJobNotices(database, { clock, ids, channel, publisher })
      : undefined;
  const notifier = createJobNotifier(clock);
  /** When a delayed job of this process is due, as far as it knows. */
  let nextDueAt = Number.POSITIVE_INFINITY;
  let listeners = 0;
  let stopHearing: (() => void) | undefined;

  const add = createAdditions(database);
  const readByKey = defineStatement<'key'>(dialect, `select id from ${table} where key = @key`);
  const readKeys = defineStatement<'keys'>(
    dialect,
    `select key from ${table} where ${
      dialect === 'sqlite'
        ? 'key in (select value from json_each(@keys))'
        : 'key = any(cast(@keys as text[]))'
    }`,
  );
  const promote = definePromotion(dialect, table);
  const claim = defineClaim(dialect, table);
  const claims = createClaims();
  const pace = createPace(claimEveryMs);
  const vacuum = createVacuum(database);
  // A worker with an expired lease may still change the job until another worker takes it.
  const isHeld = 'id = @id and fence = @fence and lease_until is not null';
  const renew = defineStatement<'id' | 'fence' | 'leaseUntil'>(
    dialect,
    `update ${table} set lease_until = @leaseUntil, due_at = @leaseUntil, ready = 0 where ${isHeld} returning id`,
  );
  const finish = defineStatement<'id' | 'fence'>(
    dialect,
    `delete from ${table} where ${isHeld} returning id`,
  );
  const enqueueIf = defineConditional<'id' | 'key' | 'kind' | 'owner' | 'payload' | 'runAt' | 'ready'>(
    dialect,
    (condition) =>
      `insert into ${table} (id, key, kind, owner, payload, run_at, due_at, ready, attempt, fence)
       select @id, @key, @kind, @owner, ${dialect === 'sqlite' ? '@payload' : 'cast(@payload as jsonb)'},
         cast(@runAt as bigint), cast(@runAt as bigint), cast(@ready as integer), 0, 0
       where ${condition} on conflict (key) do nothing returning 1 as done`,
  );
  const enqueueLeasedIf = defineConditional<
    'id' | 'key' | 'kind' | 'owner' | 'payload' | 'runAt' | 'leaseUntil' | 'attempt' | 'fence'
  >(
    dialect,
    (condition) =>
      `insert into ${table} (id, key, kind, owner, payload, run_at, due_at, lease_until, ready, attempt, fence)
       select @id, @key, @kind, @owner, ${dialect === 'sqlite' ? '@payload' : 'cast(@payload as jsonb)'},
         cast(@runAt as bigint), cast(@leaseUntil as bigint), cast(@leaseUntil as bigint), 0,
         cast(@attempt as integer), cast(@fence as bigint)
       where ${condition} on conflict (key) do nothing returning 1 as done`,
  );
  const finishIf = defineConditional<'id' | 'fence'>(
    dialect,
    (condition) => `delete from ${table} where ${isHeld} and ${condition} returning 1 as done`,
  );
  const isNew = defineStatement<'key'>(dialect, `not exists (select 1 from ${table} where key = @key)`);
  const isLeased = defineStatement<'id' | 'fence'>(
    dialect,
    `exists (select 1 from ${table} where ${isHeld})`,
  );
  const retry = defineStatement<'id' | 'fence' | 'runAt' | 'ready' | 'uncounted'>(
    dialect,
    `update ${table} set lease_until = null, run_at = @runAt, due_at = @runAt, ready = @ready,
       attempt = attempt - @uncounted
     where ${isHeld} returning id`,
  );
  const count = defineStatement<'now'>(
    dialect,
    `select ready.jobs + later.ready as ready, later.waiting, later.leased
     from (select count(*) as jobs from (select 1 from ${table} where ready = 1 limit ${MAX_COUNTED}) first) ready,
       (select
          count(case when run_at <= @now and (lease_until is null or lease_until <= @now) then 1 end) as ready,
          count(case when run_at > @now and (lease_until is null or lease_until <= @now) then 1 end) as waiting,
          count(case when lease_until > @now then 1 end) as leased
        from (select run_at, lease_until from ${table} where ready = 0 order by due_at limit ${MAX_COUNTED}) next) later`,
  );

  return {
    async enqueue({ kind, payload, key, owner = '', runAt = clock.now() }, options) {
      const id = ids.next();
      const ready = Number(runAt <= clock.now());
      const job = { id, key, kind, owner, payload: toJsonText(payload, dialect), runAt, ready };
      for (;;) {
        if (await add(job, options)) {
          notifier.wakeAt(runAt);
          if (ready === 1) notices?.announce();
          else nextDueAt = Math.min(nextDueAt, runAt);
          return { id, added: true };
        }
        const [known] = await run(readByKey({ key }), options);
        // The job ended between the two reads, and its key is free.
        if (known !== undefined) return { id: String(known.id), added: false };
      }
    },

    async lease(want, options) {
      const { kinds, limit, leaseMs, leaseMsByKind = {}, perOwner } = want;
      if (kinds.length === 0) return [];
      if (dialect === 'postgres') await pace.wait();
      const now = clock.now();
      const leaseUntil = now + leaseMs;
      const untils = JSON.stringify(
        Object.fromEntries(Object.entries(leaseMsByKind).map(([kind, ms]) => [kind, now + ms])),
      );
      let isPromoted = dialect === 'sqlite' || nextDueAt <= now;
      if (isPromoted) {
        nextDueAt = Number.POSITIVE_INFINITY;
        await run(promote({ now }), options);
      }
      const taken: SqlRow[] = [];
      while (taken.length < limit) {
        const wanted = limit - taken.length;
        const { full, ...rooms } = listRooms(perOwner, taken);
        const bounds = { lanes: wanted + full, limit: wanted, now, leaseUntil, untils, isPromoted };
        const values = { ...claims.asked(want, taken), ...rooms, ...bounds };
        // This round has leased jobs, even if the next one fails.
        const answer = await run(claim(values), taken.length === 0 ? options : undefined);
        if (answer[0]?.pending === true) {
          await run(promote({ now }), options);
          isPromoted = true;
          continue;
        }
        isPromoted = true;
        const rows = answer.filter(({ sequence }) => sequence !== null);
        claims.served(rows);
        taken.push(...rows);
        if (rows.length === wanted || !mayHaveMore(rows, taken, perOwner)) break;
      }
      if (taken.length === limit) pace.skip();
      vacuum(taken.length);
      const jobs = taken.sort(byTurn).map(toLeasedJob);
      for (const until of new Set(jobs.map((job) => job.leaseUntil))) notifier.wakeAt(until);
      return jobs;
    },

    async renew({ id, fence }, leaseMs, options) {
      const leaseUntil = clock.now() + leaseMs;
      const isRenewed = (await run(renew({ id, fence, leaseUntil }), options)).length === 1;
      if (isRenewed) notifier.wakeAt(leaseUntil);
      return isRenewed;
    },

    async finish({ id, fence }, options) {
      return (await run(finish({ id, fence }), options)).length === 1;
    },

    async retry({ id, fence }, { runAt, countAttempt }, options) {
      const ready = Number(runAt <= clock.now());
      const back = { id, fence, runAt, ready, uncounted: countAttempt ? 0 : 1 };
      if ((await run(retry(back), options)).length === 0) return false;
      notifier.wakeAt(runAt);
      if (ready === 1) notices?.announce();
      return true;
    },

    async findKeys(keys, options) {
      return (await run(readKeys({ keys }), options)).map(({ key }) => String(key));
    },

    writes: {
      enqueue(job) {
        const { kind, payload, key, owner = '', runAt = clock.now() } = job;
        const ready = Number(runAt <= clock.now());
        const values = {
          id: ids.next(),
          key,
          kind,
          owner,
          payload: toJsonText(payload, dialect),
          runAt,
          ready,
        };
        return toEngineWrite(database, { toStatement: enqueueIf(values), expected: isNew({ key }) }, () => {
          if (ready === 0) nextDueAt = Math.min(nextDueAt, runAt);
          notifier.wakeAt(runAt);
          if (ready === 1) notices?.announce();
        });
      },
      enqueueLeased({ kind, payload, key, owner = '' }, leaseMs) {
        const now = clock.now();
        const lease = { id: ids.next(), key, kind, attempt: 1, fence: 1, leaseUntil: now + leaseMs };
        const toStatement = enqueueLeasedIf({
          ...lease,
          owner,
          runAt: now,
          payload: toJsonText(payload, dialect),
        });
        return {
          job: { ...lease, payload, ...(owner !== '' && { owner }) },
          write: toEngineWrite(database, { toStatement, expected: isNew({ key }) }, () =>
            notifier.wakeAt(lease.leaseUntil),
          ),
        };
      },
      finish: ({ id, fence }) =>
        toEngineWrite(database, { toStatement: finishIf({ id, fence }), expected: isLeased({ id, fence }) }),
    },

    onReady(listener) {
      const stop = notifier.listen(listener);
      let isOver = false;
      listeners += 1;
      if (listeners === 1) stopHearing = notices?.listen(() => notifier.wakeAt(clock.now()));
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

/** `returning` has no order. */
function byTurn(a: SqlRow, b: SqlRow): number {
  return toNumber(a.run_at) - toNumber(b.run_at) || toNumber(a.sequence) - toNumber(b.sequence);
}

function toLeasedJob(row: SqlRow): LeasedJob {
  return {
    id: String(row.id),
    kind: String(row.kind),
    payload: fromJson<Json>(row.payload),
    key: String(row.key),
    ...(row.owner !== '' && { owner: String(row.owner) }),
    attempt: toNumber(row.attempt),
    fence: toNumber(row.fence),
    leaseUntil: toNumber(row.lease_until),
  };
}
