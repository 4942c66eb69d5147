import type { Clock, Ids, JobQueue, LeasedJob, LeaseWanted } from '@questline/core';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { IQueueBackend, JobJson, MinimalJob, RedisConnectionClient } from 'bullmq';
import { createAlarm } from './alarm.ts';
import { createKinds } from './kinds.ts';
import { type BullLease, lockOf, recover, recoverRest, takeNext } from './lease.ts';
import { createPatience, isRefusal } from './patience.ts';

export interface BullQueueOptions {
  /** The user's own client, such as an ioredis `Redis` or `Cluster`. It is never closed, and no other is opened. */
  readonly connection: RedisConnectionClient;
  /** BullMQ's own prefix of all keys. In a cluster it must be a hash tag, e.g. `{bull}`. Default `bull`. */
  readonly prefix?: string;
  /** The queue of a kind of job is called `<name>.<kind>`. Default `questline`. */
  readonly name?: string;
  /** How long a call may take until it is refused with `StorageUnavailable`. Default 2000 ms. */
  readonly timeoutMs?: number;
  readonly ids?: Ids;
  /** Rings for delayed jobs. When a job is due is BullMQ's to say, which goes by the system's time. Default: the system's. */
  readonly clock?: Clock;
}

export interface BullQueue extends JobQueue {
  /** Takes its listeners off the connection, which stays open. */
  close(): Promise<void>;
}

/** What a lease asks for when nobody says otherwise: asking for exactly this spares a round trip. */
const LOCK_MS = 60_000;

/**
 * The job queue on BullMQ: a queue for every kind of job, visible to BullMQ's own tools. Jobs of one kind are handed out
 * in the order in which they become due; kinds take turns. A key is there once among the jobs of its kind.
 */
export function createBullQueue({
  connection,
  prefix = 'bull',
  name = 'questline',
  timeoutMs = 2000,
  clock = createSystemClock(),
  ids = createIds({ clock }),
}: BullQueueOptions): BullQueue {
  const kinds = createKinds({ connection, prefix, name, lockMs: LOCK_MS });
  const patience = createPatience(timeoutMs);
  const alarm = createAlarm(clock);
  /** Whose turn it is to be asked first. */
  let turn = 0;

  /** False where BullMQ says that the lock does not, or no longer, speak for the job. */
  const underLock = async (change: () => Promise<unknown>): Promise<boolean> => {
    try {
      await patience.run(change);
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  };

  const putBack = (job: LeasedJob, runAt: number, countAttempt: boolean): Promise<unknown> => {
    const delay = Math.max(0, runAt - Date.now());
    return kinds
      .of(job.kind)
      .moveToDelayed(job.id, runAt - delay, delay, lockOf(job), { skipAttempt: !countAttempt });
  };

  /** Takes one of each kind in turn, so that no kind waits for another to be done. */
  const takeInTurns = async ({ kinds: wanted, limit, leaseMs, leaseMsOf }: LeaseWanted) => {
    const taken: BullLease[] = [];
    let left = wanted;
    while (left.length > 0 && taken.length < limit) {
      const found: string[] = [];
      for (const kind of left) {
        if (taken.length === limit) break;
        const terms = {
          kind,
          leaseMs: leaseMsOf?.[kind] ?? leaseMs,
          lockMs: LOCK_MS,
          lock: ids.secret(22),
        };
        const job = await takeNext(kinds.of(kind), terms);
        if (job === undefined) continue;
        taken.push(job);
        found.push(kind);
      }
      left = found;
    }
    return taken;
  };

  const takeDue = async (want: LeaseWanted) => {
    const { kinds: wanted, limit } = want;
    await Promise.all(wanted.map((kind) => recover(kinds.of(kind))));
    const taken = await takeInTurns(want);
    if (taken.length === limit) return taken;
    const own = (kind: string) => taken.filter((job) => job.kind === kind).length;
    const looked = await Promise.all(wanted.map((kind) => recoverRest(kinds.of(kind), own(kind))));
    const again = wanted.filter((_, at) => looked[at]);
    return [...taken, ...(await takeInTurns({ ...want, kinds: again, limit: limit - taken.length }))];
  };

  return {
    async enqueue({ kind, payload, key, runAt = Date.now() }, options) {
      options?.signal?.throwIfAborted();
      const id = ids.next();
      const known = await patience.run(async () => {
        await kinds.remember(kind);
        return kinds.of(kind).addJob(jobOf({ id, kind, key, data: JSON.stringify(payload), runAt }), id);
      });
      if (known !== id) return { id: known, added: false };
      alarm.ring(runAt);
      return { id, added: true };
    },

    async lease(want, options) {
      options?.signal?.throwIfAborted();
      const unique = [...new Set(want.kinds)];
      if (want.limit < 1 || unique.length === 0) return [];
      turn = (turn + 1) % unique.length;
      const inTurn = [...unique.slice(turn), ...unique.slice(0, turn)];
      return patience.run(
        () => takeDue({ ...want, kinds: inTurn }),
        (late) => {
          for (const job of late) putBack(job, Date.now(), false).catch(() => undefined);
        },
      );
    },

    async renew(job, leaseMs, options) {
      options?.signal?.throwIfAborted();
      const extended = await patience.run(() => kinds.of(job.kind).extendLock(job.id, lockOf(job), leaseMs));
      return extended === 1;
    },

    async finish(job, options) {
      options?.signal?.throwIfAborted();
      const done = { id: job.id, opts: {} } as MinimalJob;
      return underLock(() => kinds.of(job.kind).moveToCompleted(done, null, true, lockOf(job), false));
    },

    async retry(job, { runAt, countAttempt }, options) {
      options?.signal?.throwIfAborted();
      const isBack = await underLock(() => putBack(job, runAt, countAttempt));
      if (isBack) alarm.ring(runAt);
      return isBack;
    },

    onReady: alarm.listen,

    async counts(options) {
      options?.signal?.throwIfAborted();
      const each = await patience.run(async () =>
        Promise.all((await kinds.all()).map((kind) => countsOf(kinds.of(kind)))),
      );
      const sum = (field: 'ready' | 'delayed' | 'leased') =>
        each.reduce((total, one) => total + one[field], 0);
      return { ready: sum('ready'), delayed: sum('delayed'), leased: sum('leased') };
    },

    close: () => kinds.close(),
  };
}

interface StoredJob {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly data: string;
  readonly runAt: number;
}

/** Always delayed, if only by the millisecond that has just passed: what is delayed is put into line by its time. */
function jobOf({ id, kind, key, data, runAt }: StoredJob): JobJson {
  const timestamp = Math.min(Date.now(), runAt - 1);
  const delay = runAt - timestamp;
  return {
    id,
    name: kind,
    data,
    timestamp,
    delay,
    opts: { delay, removeOnComplete: true, deduplication: { id: key } },
    deduplicationId: key,
    progress: 0,
    attemptsMade: 0,
    attemptsStarted: 0,
    stalledCounter: 0,
    failedReason: '',
    returnvalue: '',
  };
}

async function countsOf(backend: IQueueBackend) {
  await recover(backend);
  await recoverRest(backend, 0);
  const [wait = 0, prioritized = 0, leased = 0, due = 0] = await backend.getCounts(
    ['wait', 'prioritized', 'active', 'delayed'],
    Date.now() + 1,
  );
  const [delayed = 0] = await backend.getCounts(['delayed']);
  return { ready: wait + prioritized + due, delayed: delayed - due, leased };
}
