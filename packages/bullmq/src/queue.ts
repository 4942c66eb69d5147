import { createJobNotifier } from '@questline/core/internal';
import { createIds, createSystemClock } from '@questline/core/memory';
import type { Clock, Ids, JobQueue, LeasedJob, LeaseWanted, OwnerLimit } from '@questline/core/ports';
import type { IQueueBackend, JobJson, MinimalJob, RedisConnectionClient } from 'bullmq';
import { createCallTimeout, isRefusal } from './call-timeout.ts';
import { createKinds } from './kinds.ts';
import { type BullLease, getLock, recover, recoverRest, takeNext } from './lease.ts';

export interface BullQueueOptions {
  /** Your own client, such as an ioredis `Redis` or `Cluster`. It is never closed, and no other connection is opened. */
  readonly connection: RedisConnectionClient;
  /** BullMQ's prefix of all keys. In a cluster it must be a hash tag, e.g. `{bull}`. Default `bull`. */
  readonly prefix?: string;
  /** The queue of a job kind is named `<name>.<kind>`. Default `questline`. */
  readonly name?: string;
  /** Timeout of a call, after which it rejects with `StorageUnavailable`. Default 2000 ms. */
  readonly timeoutMs?: number;
  readonly ids?: Ids;
  /** Clock for notifications of delayed jobs. BullMQ decides when a job is due, by the system time. Default: the system's. */
  readonly clock?: Clock;
}

export interface BullQueue extends JobQueue {
  /** Removes its listeners from the connection, which stays open. */
  close(): Promise<void>;
}

/** The default lease duration: a lease of exactly this duration saves a round trip. */
const LOCK_MS = 60_000;

/**
 * A job queue on BullMQ: one BullMQ queue per kind and owner, visible to BullMQ's tools. Jobs of one owner are leased in
 * the order in which they become due; owners and kinds take turns. A key is unique among the jobs of its kind and
 * owner.
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
  const callTimeout = createCallTimeout(timeoutMs);
  const notifier = createJobNotifier(clock);
  /** The kind to ask first. */
  let turn = 0;

  /** False when BullMQ reports that the lock does not, or no longer, belong to the job. */
  const underLock = async (change: () => Promise<unknown>): Promise<boolean> => {
    try {
      await callTimeout.run(change);
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  };

  const putBack = async (job: LeasedJob, runAt: number, countAttempt: boolean): Promise<void> => {
    const { kind, owner = '' } = job;
    const delay = Math.max(0, runAt - Date.now());
    await kinds
      .of(kind, owner)
      .moveToDelayed(job.id, runAt - delay, delay, getLock(job), { skipAttempt: !countAttempt });
    await kinds.lanes.lookAfter(kind, owner, delay);
  };

  /** The next job of an owner, including stalled jobs. */
  const takeFrom = async ({ kind, owner }: Lane, { leaseMs, leaseMsByKind }: LeaseWanted) => {
    const backend = kinds.of(kind, owner);
    const next = () =>
      takeNext(backend, {
        kind,
        owner,
        leaseMs: leaseMsByKind?.[kind] ?? leaseMs,
        lockMs: LOCK_MS,
        lock: ids.secret(22),
      });
    await recover(backend);
    const job = await next();
    if (job !== undefined) return job;
    return (await recoverRest(backend)) ? next() : undefined;
  };

  /** Round robin over kinds and owners, so that no kind and no owner blocks another. */
  const takeDue = async (want: LeaseWanted): Promise<BullLease[]> => {
    const { limit } = want;
    const taken: BullLease[] = [];
    let left = want.kinds.map((kind) => ({
      kind,
      room: createRoom(want.perOwner?.[kind], want.limitByKind?.[kind]),
    }));
    while (left.length > 0 && taken.length < limit) {
      const asked = left.map(({ kind, room }) => ({ kind, room, limit: limit - taken.length + room.full() }));
      const due = await kinds.lanes.due(asked);
      const pages = asked.map(({ kind, room, limit: page }, at) => {
        const owners = due[at] ?? [];
        return { kind, room, isWhole: owners.length < page, owners: owners.filter(room.has) };
      });
      // After a partial page, checked owners have made room for the next ones.
      left = pages.filter(({ isWhole, owners }) => !isWhole && owners.length > 0);
      let rounds = pages.map(({ kind, room, owners }) => ({ kind, room, owners: [...owners] }));
      while (rounds.length > 0 && taken.length < limit) {
        for (const { kind, room, owners } of rounds) {
          if (taken.length === limit) break;
          const owner = owners.shift();
          if (owner === undefined || !room.has(owner)) continue;
          const job = await takeFrom({ kind, owner }, want);
          if (job !== undefined) {
            taken.push(job);
            room.count(owner);
          }
          const isDue = await kinds.lanes.served(kind, owner);
          if (job !== undefined && isDue) owners.push(owner);
        }
        rounds = rounds.filter(({ owners }) => owners.length > 0);
      }
    }
    return taken;
  };

  return {
    async enqueue({ kind, payload, key, owner = '', runAt = Date.now() }, options) {
      options?.signal?.throwIfAborted();
      const id = ids.next();
      const job = toJob({ id, kind, key, data: JSON.stringify(payload), runAt });
      const known = await callTimeout.run(async () => {
        await kinds.remember(kind);
        await kinds.lanes.expect(kind, owner);
        const added = await kinds.of(kind, owner).addJob(job, id);
        await kinds.lanes.lookAfter(kind, owner, runAt - Date.now());
        return added;
      });
      if (known !== id) return { id: known, added: false };
      notifier.wakeAt(runAt);
      return { id, added: true };
    },

    async lease(want, options) {
      options?.signal?.throwIfAborted();
      const unique = [...new Set(want.kinds)];
      if (want.limit < 1 || unique.length === 0) return [];
      turn = (turn + 1) % unique.length;
      const inTurn = [...unique.slice(turn), ...unique.slice(0, turn)];
      return callTimeout.run(
        () => takeDue({ ...want, kinds: inTurn }),
        (late) => {
          for (const job of late) putBack(job, Date.now(), false).catch(() => undefined);
        },
      );
    },

    async renew(job, leaseMs, options) {
      options?.signal?.throwIfAborted();
      const { kind, owner = '' } = job;
      return callTimeout.run(async () => {
        const extended = await kinds.of(kind, owner).extendLock(job.id, getLock(job), leaseMs);
        if (extended === 1) await kinds.lanes.lookAfter(kind, owner, leaseMs);
        return extended === 1;
      });
    },

    async finish(job, options) {
      options?.signal?.throwIfAborted();
      const done = { id: job.id, opts: {} } as MinimalJob;
      return underLock(() =>
        kinds.of(job.kind, job.owner).moveToCompleted(done, null, true, getLock(job), false),
      );
    },

    async retry(job, { runAt, countAttempt }, options) {
      options?.signal?.throwIfAborted();
      const isBack = await underLock(() => putBack(job, runAt, countAttempt));
      if (isBack) notifier.wakeAt(runAt);
      return isBack;
    },

    onReady: notifier.listen,

    async counts(options) {
      options?.signal?.throwIfAborted();
      const each = await callTimeout.run(async () => {
        const all = await Promise.all(
          (await kinds.all()).map(async (kind) =>
            (await kinds.lanes.all(kind)).map((owner) => kinds.of(kind, owner)),
          ),
        );
        return Promise.all(all.flat().map(readCounts));
      });
      const sum = (field: 'ready' | 'delayed' | 'leased') =>
        each.reduce((total, one) => total + one[field], 0);
      return { ready: sum('ready'), delayed: sum('delayed'), leased: sum('leased') };
    },

    close: () => kinds.close(),
  };
}

interface Lane {
  readonly kind: string;
  /** Empty: no owner. */
  readonly owner: string;
}

/** Counts the jobs that one call leases per owner, in addition to those already leased. */
function createRoom(limit: OwnerLimit | undefined, most = Number.POSITIVE_INFINITY) {
  let left = most;
  const held = new Map(limit?.held);
  const max = limit?.max ?? Number.POSITIVE_INFINITY;
  return {
    has: (owner: string): boolean => left > 0 && (owner === '' || (held.get(owner) ?? 0) < max),
    count(owner: string): void {
      left -= 1;
      held.set(owner, (held.get(owner) ?? 0) + 1);
    },
    full: (): number => [...held.values()].filter((count) => count >= max).length,
  };
}

interface StoredJob {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly data: string;
  readonly runAt: number;
}

/** Always delayed, by at least one millisecond: delayed jobs are ordered by their time. */
function toJob({ id, kind, key, data, runAt }: StoredJob): JobJson {
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

async function readCounts(backend: IQueueBackend) {
  await recover(backend);
  await recoverRest(backend);
  const [wait = 0, prioritized = 0, leased = 0, due = 0] = await backend.getCounts(
    ['wait', 'prioritized', 'active', 'delayed'],
    Date.now() + 1,
  );
  const [delayed = 0] = await backend.getCounts(['delayed']);
  return { ready: wait + prioritized + due, delayed: delayed - due, leased };
}
