import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { JobQueue, LeasedJob, OwnerLimit } from '../ports/queue.ts';
import type { Json } from '../ports/store.ts';
import { createHeap } from './heap.ts';
import { frozenCopy } from './json.ts';
import { createLanes, isEarlier, type Lanes, type WaitingJob } from './lanes.ts';

interface Job extends WaitingJob {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly payload: Json;
  attempt: number;
  fence: number;
  isLeased: boolean;
  leaseUntil: number;
  /** The fence that may still change the job; 0 after its worker returned it. */
  heldFence: number;
}

/** Creates a queue in memory, for tests and evaluation. A restart loses all jobs. */
export function createMemoryQueue({ clock, ids }: { clock: Clock; ids: Ids }): JobQueue {
  const jobs = new Map<string, Job>();
  const idsByKey = new Map<string, string>();
  const waiting = new Map<string, Lanes<Job>>();
  const leased = createHeap<Job>((a, b) => a.leaseUntil < b.leaseUntil);
  const listeners = new Set<{ readonly call: () => void }>();
  let number = 0;
  let alarm: { readonly at: number; readonly cancel: () => void } | undefined;

  const lanesFor = (kind: string): Lanes<Job> => {
    const lanes = waiting.get(kind) ?? createLanes<Job>();
    waiting.set(kind, lanes);
    return lanes;
  };

  /** After its lease expires, a job is due again. Until another worker takes it, its worker may still finish it. */
  const expire = (now: number): void => {
    for (let job = leased.first(); job !== undefined && job.leaseUntil <= now; job = leased.first()) {
      leased.remove(job);
      job.isLeased = false;
      lanesFor(job.kind).push(job, now);
    }
    for (const lanes of waiting.values()) lanes.promote(now);
  };

  const notify = (): void => {
    for (const listener of [...listeners]) {
      try {
        if (listeners.has(listener)) listener.call();
      } catch {
        // An error of one listener must not affect other listeners or the caller of `enqueue`.
      }
    }
  };

  /** Sets the timer for the next due job while there are listeners. */
  const setAlarm = (): void => {
    const now = clock.now();
    let at = leased.first()?.leaseUntil ?? Number.POSITIVE_INFINITY;
    for (const lanes of waiting.values()) {
      // A due job was already announced.
      lanes.promote(now);
      at = Math.min(at, lanes.nextDueAt() ?? at);
    }
    if (alarm?.at === at && listeners.size > 0) return;
    alarm?.cancel();
    alarm = undefined;
    if (listeners.size === 0 || at === Number.POSITIVE_INFINITY) return;
    const cancel = clock.timer(at - now, () => {
      alarm = undefined;
      expire(clock.now());
      notify();
      setAlarm();
    });
    alarm = { at, cancel };
  };

  const announce = (runAt: number): void => {
    if (runAt <= clock.now()) notify();
    setAlarm();
  };

  /** Returns the job if the fence is valid. */
  const heldJob = ({ id, fence }: LeasedJob): Job | undefined => {
    const job = jobs.get(id);
    return job !== undefined && job.heldFence === fence ? job : undefined;
  };

  const putAside = (job: Job): void => {
    if (job.isLeased) leased.remove(job);
    else lanesFor(job.kind).remove(job);
    job.isLeased = false;
  };

  const handOut = (job: Job, leaseUntil: number): LeasedJob => {
    job.attempt += 1;
    job.fence += 1;
    job.heldFence = job.fence;
    job.isLeased = true;
    job.leaseUntil = leaseUntil;
    leased.push(job);
    const { id, kind, payload, key, owner, attempt, fence } = job;
    return { id, kind, payload, key, ...(owner !== '' && { owner }), attempt, fence, leaseUntil };
  };

  return {
    async enqueue({ kind, payload, key, owner = '', runAt }, options) {
      options?.signal?.throwIfAborted();
      const known = idsByKey.get(key);
      if (known !== undefined) return { id: known, added: false };
      const job: Job = {
        slot: -1,
        id: ids.next(),
        kind,
        key,
        owner,
        payload: frozenCopy(payload),
        number: number++,
        runAt: runAt ?? clock.now(),
        attempt: 0,
        fence: 0,
        isLeased: false,
        leaseUntil: 0,
        heldFence: 0,
      };
      jobs.set(job.id, job);
      idsByKey.set(key, job.id);
      lanesFor(kind).push(job, clock.now());
      announce(job.runAt);
      return { id: job.id, added: true };
    },

    async lease({ kinds, limit, limitByKind, leaseMs, leaseMsByKind, perOwner }, options) {
      options?.signal?.throwIfAborted();
      const now = clock.now();
      expire(now);
      const asked = [...new Set(kinds)].flatMap((kind) => {
        const lanes = waiting.get(kind);
        const room = limitByKind?.[kind] ?? limit;
        return lanes === undefined ? [] : [{ lanes, room, limits: countingLimit(perOwner?.[kind]) }];
      });
      const handed: LeasedJob[] = [];
      while (handed.length < limit) {
        let next: Job | undefined;
        let from: (typeof asked)[number] | undefined;
        for (const one of asked) {
          const first = one.room > 0 ? one.lanes.next(one.limits) : undefined;
          if (first === undefined || (next !== undefined && !isEarlier(first, next))) continue;
          next = first;
          from = one;
        }
        if (next === undefined || from === undefined) break;
        from.lanes.serve(next);
        from.room -= 1;
        from.limits?.held.set(next.owner, (from.limits.held.get(next.owner) ?? 0) + 1);
        handed.push(handOut(next, now + (leaseMsByKind?.[next.kind] ?? leaseMs)));
      }
      setAlarm();
      return handed;
    },

    async renew(held, leaseMs, options) {
      options?.signal?.throwIfAborted();
      const job = heldJob(held);
      if (job === undefined) return false;
      putAside(job);
      job.isLeased = true;
      job.leaseUntil = clock.now() + leaseMs;
      leased.push(job);
      setAlarm();
      return true;
    },

    async finish(held, options) {
      options?.signal?.throwIfAborted();
      const job = heldJob(held);
      if (job === undefined) return false;
      putAside(job);
      jobs.delete(job.id);
      idsByKey.delete(job.key);
      setAlarm();
      return true;
    },

    async retry(held, { runAt, countAttempt }, options) {
      options?.signal?.throwIfAborted();
      const job = heldJob(held);
      if (job === undefined) return false;
      putAside(job);
      job.heldFence = 0;
      job.runAt = runAt;
      if (!countAttempt) job.attempt -= 1;
      lanesFor(job.kind).push(job, clock.now());
      announce(runAt);
      return true;
    },

    async findKeys(keys, options) {
      options?.signal?.throwIfAborted();
      return keys.filter((key) => idsByKey.has(key));
    },

    onReady(call) {
      const listener = { call };
      listeners.add(listener);
      setAlarm();
      return () => {
        listeners.delete(listener);
        setAlarm();
      };
    },

    async counts(options) {
      options?.signal?.throwIfAborted();
      const now = clock.now();
      expire(now);
      let ready = 0;
      for (const lanes of waiting.values()) ready += lanes.ready();
      return { ready, delayed: jobs.size - leased.size() - ready, leased: leased.size() };
    },
  };
}

/** Copies a limit and counts the jobs that this call leases. */
function countingLimit(limit: OwnerLimit | undefined) {
  return limit && { max: limit.max, held: new Map(limit.held) };
}
