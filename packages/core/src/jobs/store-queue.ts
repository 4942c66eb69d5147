import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { JobQueue, LeasedJob, LeaseWanted } from '../ports/queue.ts';
import {
  type Collection,
  defineCollection,
  type FindOptions,
  type Json,
  type Store,
  type StoredRecord,
} from '../ports/store.ts';
import { createJobNotifier } from './job-notifier.ts';
import { createRoundRobin, getRoom, type RoundRobin } from './round-robin.ts';

/** A job that has not completed. */
export interface JobRecord extends StoredRecord {
  readonly kind: string;
  readonly key: string;
  /** Absent: no owner. */
  readonly owner?: string;
  readonly payload: Json;
  readonly runAt: number;
  readonly attempt: number;
  /** Incremented by every lease. */
  readonly fence: number;
  /** The fence that may still change the job; 0 after its worker returned it. */
  readonly holder: number;
  /** Epoch milliseconds; 0 while the job is not leased. */
  readonly leaseUntil: number;
}

/** Not named `jobs`, because an engine with its own queue uses a table of this name. */
export const JOBS = defineCollection<JobRecord>({
  name: 'queued_jobs',
  columns: {
    kind: 'text',
    key: 'text',
    owner: 'text',
    runAt: 'integer',
    attempt: 'integer',
    fence: 'integer',
    holder: 'integer',
    leaseUntil: 'integer',
  },
  unique: [['key']],
  indexes: [['runAt'], ['kind', 'owner', 'runAt']],
});

/** Extra candidates per query, because other workers may take some of them first. */
const SPARE = 8;
/** Maximum retries when other workers took all candidates; the next poll continues. */
const LOOKS = 4;

/**
 * Creates a durable queue on any store, with guarded updates. Its guarantees are those of the store. The round-robin
 * order of owners is per queue object. `onReady` reports only jobs of this queue object; other processes poll.
 */
export function createStoreQueue(ports: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
}): JobQueue {
  const { clock, ids } = ports;
  const jobs = ports.store.collection(JOBS);
  const notifier = createJobNotifier(clock);
  const roundRobin = createRoundRobin();

  const seize = (job: JobRecord, until: number, now: number): Promise<JobRecord | undefined> =>
    jobs.update(
      job.id,
      { attempt: job.attempt + 1, fence: job.fence + 1, holder: job.fence + 1, leaseUntil: until },
      { fence: job.fence, runAt: { lte: now }, leaseUntil: { lte: now } },
    );

  return {
    async enqueue({ kind, payload, key, owner, runAt }, options) {
      for (;;) {
        const job: JobRecord = {
          id: ids.next(),
          kind,
          key,
          ...(owner !== undefined && { owner }),
          payload,
          runAt: runAt ?? clock.now(),
          attempt: 0,
          fence: 0,
          holder: 0,
          leaseUntil: 0,
        };
        if (await jobs.insert(job, options)) {
          notifier.wakeAt(job.runAt);
          return { id: job.id, added: true };
        }
        const [known] = await jobs.find({ key }, { limit: 1, ...options });
        if (known !== undefined) return { id: known.id, added: false };
        // The job completed in between, so the key is free again.
      }
    },

    async lease({ kinds, limit, limitByKind, leaseMs, leaseMsByKind, perOwner }, options) {
      const leased: LeasedJob[] = [];
      const now = clock.now();
      const held = countingLimits(perOwner);
      const room = new Map(kinds.map((kind) => [kind, limitByKind?.[kind] ?? limit]));
      const isOpen = (kind: string): boolean => (room.get(kind) ?? 0) > 0;
      for (let look = 0; look < LOOKS && leased.length < limit; look += 1) {
        const open = kinds.filter(isOpen);
        if (open.length === 0) break;
        const want = { kinds: open, perOwner: held.limits, limit: limit - leased.length, now };
        let lost = 0;
        for (const job of await findInTurn(jobs, roundRobin, want, options)) {
          if (leased.length === limit) break;
          if (!isOpen(job.kind)) continue;
          const mine = await seize(job, now + (leaseMsByKind?.[job.kind] ?? leaseMs), now);
          if (mine === undefined) {
            lost += 1;
            continue;
          }
          leased.push(toLeased(mine));
          roundRobin.served(mine);
          held.count(mine);
          room.set(mine.kind, (room.get(mine.kind) ?? 0) - 1);
        }
        if (lost === 0) break;
      }
      for (const until of new Set(leased.map(({ leaseUntil }) => leaseUntil))) notifier.wakeAt(until);
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
      if (back !== undefined) notifier.wakeAt(runAt);
      return back !== undefined;
    },

    async findKeys(keys, options) {
      return (await jobs.find({ key: { in: keys } }, options)).map(({ key }) => key);
    },

    onReady: notifier.listen,

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

interface WantedNow extends Pick<LeaseWanted, 'kinds' | 'limit' | 'perOwner'> {
  readonly now: number;
}

/** Returns due jobs in the order of leasing; at least `limit` if so many are due. */
async function findInTurn(
  jobs: Collection<JobRecord>,
  roundRobin: RoundRobin,
  { kinds, limit, perOwner, now }: WantedNow,
  options: FindOptions<JobRecord> | undefined,
): Promise<readonly JobRecord[]> {
  const due = { runAt: { lte: now }, leaseUntil: { lte: now } };
  const byAge = { ...options, order: { field: 'runAt', direction: 'asc' } } as const;
  const page = Math.min(1000, limit + SPARE);
  const oldest = await jobs.find({ ...due, kind: { in: kinds } }, { ...byAge, limit: page });
  // One query returned all due jobs, so no query per owner is needed.
  if (oldest.length < page) return roundRobin.order(oldest, perOwner);

  const found: JobRecord[] = [];
  const addLane = async (kind: string, owner: string | undefined): Promise<number> => {
    const room = Math.min(page, getRoom(perOwner?.[kind], owner ?? ''));
    if (room === 0) return 0;
    const lane = await jobs.find({ ...due, kind, owner: owner ?? null }, { ...byAge, limit: room });
    found.push(...lane);
    return lane.length === 0 ? 0 : 1;
  };
  for (const kind of new Set(kinds)) {
    const last = roundRobin.lastServed(kind);
    let lanes = 0;
    const addBetween = async (after: string, until: string | undefined): Promise<void> => {
      const byOwner = { ...options, order: { field: 'owner', direction: 'asc' }, limit: 1 } as const;
      for (let from = after; lanes < limit; ) {
        const range = { gt: from, ...(until !== undefined && { lte: until }) };
        const [next] = await jobs.find({ ...due, kind, owner: range }, byOwner);
        if (next?.owner === undefined) return;
        lanes += await addLane(kind, next.owner);
        from = next.owner;
      }
    };
    await addBetween(last, undefined);
    if (lanes < limit) lanes += await addLane(kind, undefined);
    if (last !== '') await addBetween('', last);
  }
  return roundRobin.order(found, perOwner);
}

/** Copies the limits and counts the jobs that this call leases. */
function countingLimits(perOwner: LeaseWanted['perOwner'] = {}) {
  const limits = Object.fromEntries(
    Object.entries(perOwner).map(([kind, { max, held }]) => [kind, { max, held: new Map(held) }]),
  );
  return {
    limits,
    count({ kind, owner }: JobRecord): void {
      if (owner === undefined) return;
      const held = limits[kind]?.held;
      held?.set(owner, (held.get(owner) ?? 0) + 1);
    },
  };
}

function toLeased({ id, kind, payload, key, owner, attempt, fence, leaseUntil }: JobRecord): LeasedJob {
  return { id, kind, payload, key, ...(owner !== undefined && { owner }), attempt, fence, leaseUntil };
}
