import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { JobQueue, LeasedJob } from '../ports/queue.ts';
import { defineCollection, type Json, type Store, type StoredRecord } from '../ports/store.ts';
import { createAlarm } from './alarm.ts';

/** A job that has not ended. */
export interface JobRecord extends StoredRecord {
  readonly kind: string;
  readonly key: string;
  readonly payload: Json;
  readonly runAt: number;
  readonly attempt: number;
  /** Raised by every lease. */
  readonly fence: number;
  /** The fence that may still speak for the job: 0 once its worker has given it back. */
  readonly holder: number;
  /** Epoch milliseconds; 0 while nobody holds it. */
  readonly leaseUntil: number;
}

/** Not named `jobs`: an engine with a queue of its own keeps that in a table of this name, beside this one. */
export const JOBS = defineCollection<JobRecord>({
  name: 'queued_jobs',
  columns: {
    kind: 'text',
    key: 'text',
    runAt: 'integer',
    attempt: 'integer',
    fence: 'integer',
    holder: 'integer',
    leaseUntil: 'integer',
  },
  unique: [['key']],
  indexes: [['runAt']],
});

/** Looked at beyond what is wanted: others may take some of it first. */
const SPARE = 8;
/** Looks again when others took everything, but leaves it to the next poll after so many times. */
const LOOKS = 4;

/**
 * A durable queue on any store: guarded updates are enough. As exact as the store is; a job is found in the order of
 * its `runAt`. `onReady` hears of what this very queue was given; other processes poll.
 */
export function createStoreQueue(ports: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}): JobQueue {
  const { clock, ids } = ports;
  const jobs = ports.store.collection(JOBS);
  const alarm = createAlarm(clock);

  const seize = (job: JobRecord, until: number, now: number): Promise<JobRecord | undefined> =>
    jobs.update(
      job.id,
      { attempt: job.attempt + 1, fence: job.fence + 1, holder: job.fence + 1, leaseUntil: until },
      { fence: job.fence, runAt: { lte: now }, leaseUntil: { lte: now } },
    );

  return {
    async enqueue({ kind, payload, key, runAt }, options) {
      for (;;) {
        const job: JobRecord = {
          id: ids.next(),
          kind,
          key,
          payload,
          runAt: runAt ?? clock.now(),
          attempt: 0,
          fence: 0,
          holder: 0,
          leaseUntil: 0,
        };
        if (await jobs.insert(job, options)) {
          alarm.ring(job.runAt);
          return { id: job.id, added: true };
        }
        const [known] = await jobs.find({ key }, { limit: 1, ...options });
        if (known !== undefined) return { id: known.id, added: false };
        // It has ended in between: the key is free again.
      }
    },

    async lease({ kinds, limit, leaseMs, leaseMsOf }, options) {
      const leased: LeasedJob[] = [];
      const now = clock.now();
      const due = { kind: { in: kinds }, runAt: { lte: now }, leaseUntil: { lte: now } };
      for (let look = 0; look < LOOKS && leased.length < limit && kinds.length > 0; look += 1) {
        const wanted = limit - leased.length;
        const found = await jobs.find(due, {
          ...options,
          order: { field: 'runAt', direction: 'asc' },
          limit: Math.min(1000, wanted + SPARE),
        });
        let lost = 0;
        for (const job of found) {
          if (leased.length === limit) break;
          const mine = await seize(job, now + (leaseMsOf?.[job.kind] ?? leaseMs), now);
          if (mine === undefined) lost += 1;
          else leased.push(toLeased(mine));
        }
        if (lost === 0) break;
      }
      for (const until of new Set(leased.map(({ leaseUntil }) => leaseUntil))) alarm.ring(until);
      return leased;
    },

    async renew(job, leaseMs, options) {
      const patch = { leaseUntil: clock.now() + leaseMs };
      return (await jobs.update(job.id, patch, { holder: job.fence }, options)) !== undefined;
    },

    async finish(job, options) {
      return (await jobs.take(job.id, { holder: job.fence }, options)) !== undefined;
    },

    async retry(job, { runAt, countAttempt }, options) {
      const patch = {
        runAt,
        holder: 0,
        leaseUntil: 0,
        attempt: countAttempt ? job.attempt : job.attempt - 1,
      };
      const back = await jobs.update(job.id, patch, { holder: job.fence }, options);
      if (back !== undefined) alarm.ring(runAt);
      return back !== undefined;
    },

    onReady: alarm.listen,

    async counts(options) {
      const now = clock.now();
      const free = { leaseUntil: { lte: now } };
      const [ready, delayed, leased] = await Promise.all([
        jobs.count({ ...free, runAt: { lte: now } }, options),
        jobs.count({ ...free, runAt: { gt: now } }, options),
        jobs.count({ leaseUntil: { gt: now } }, options),
      ]);
      return { ready, delayed, leased };
    },
  };
}

function toLeased({ id, kind, payload, key, attempt, fence, leaseUntil }: JobRecord): LeasedJob {
  return { id, kind, payload, key, attempt, fence, leaseUntil };
}
