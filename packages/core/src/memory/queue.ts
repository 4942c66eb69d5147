import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { JobQueue, LeasedJob } from '../ports/queue.ts';
import type { Json } from '../ports/store.ts';
import { createHeap, type Heap, type HeapItem } from './heap.ts';
import { frozenCopy } from './json.ts';

interface Job extends HeapItem {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly payload: Json;
  /** Tells which of two jobs of the same `runAt` came first. */
  readonly number: number;
  runAt: number;
  attempt: number;
  fence: number;
  isLeased: boolean;
  leaseUntil: number;
  /** The fence that may still speak for the job: 0 once its worker has given it back. */
  heldFence: number;
}

/** Work in this process. A restart forgets it: for tests and trying things out. */
export function createMemoryQueue({ clock, ids }: { clock: Clock; ids: Ids }): JobQueue {
  const jobs = new Map<string, Job>();
  const idsByKey = new Map<string, string>();
  const waiting = new Map<string, Heap<Job>>();
  const leased = createHeap<Job>((a, b) => a.leaseUntil < b.leaseUntil);
  const listeners = new Set<{ readonly call: () => void }>();
  let number = 0;
  let alarm: { readonly at: number; readonly cancel: () => void } | undefined;

  const waitingOf = (kind: string): Heap<Job> => {
    const heap = waiting.get(kind) ?? createHeap<Job>(isEarlier);
    waiting.set(kind, heap);
    return heap;
  };

  /** A lease that ran out leaves the job due again. Until somebody else takes it, its worker may still finish it. */
  const expire = (now: number): void => {
    for (let job = leased.first(); job !== undefined && job.leaseUntil <= now; job = leased.first()) {
      leased.remove(job);
      job.isLeased = false;
      waitingOf(job.kind).push(job);
    }
  };

  const notify = (): void => {
    for (const listener of [...listeners]) {
      try {
        if (listeners.has(listener)) listener.call();
      } catch {
        // One listener's fault is not the others', nor that of whoever enqueued.
      }
    }
  };

  /** Rings when the next job becomes due, as long as somebody listens. */
  const setAlarm = (): void => {
    const now = clock.now();
    let at = leased.first()?.leaseUntil ?? Number.POSITIVE_INFINITY;
    for (const heap of waiting.values()) {
      const first = heap.first();
      // One that is due already has been called out.
      if (first !== undefined && first.runAt > now) at = Math.min(at, first.runAt);
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

  /** The job, as long as the fence still speaks for it. */
  const heldJob = ({ id, fence }: LeasedJob): Job | undefined => {
    const job = jobs.get(id);
    return job !== undefined && job.heldFence === fence ? job : undefined;
  };

  const putAside = (job: Job): void => {
    (job.isLeased ? leased : waitingOf(job.kind)).remove(job);
    job.isLeased = false;
  };

  const handOut = (job: Job, leaseUntil: number): LeasedJob => {
    job.attempt += 1;
    job.fence += 1;
    job.heldFence = job.fence;
    job.isLeased = true;
    job.leaseUntil = leaseUntil;
    leased.push(job);
    const { id, kind, payload, key, attempt, fence } = job;
    return { id, kind, payload, key, attempt, fence, leaseUntil };
  };

  return {
    async enqueue({ kind, payload, key, runAt }, options) {
      options?.signal?.throwIfAborted();
      const known = idsByKey.get(key);
      if (known !== undefined) return { id: known, added: false };
      const job: Job = {
        slot: -1,
        id: ids.next(),
        kind,
        key,
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
      waitingOf(kind).push(job);
      announce(job.runAt);
      return { id: job.id, added: true };
    },

    async lease({ kinds, limit, leaseMs, leaseMsOf }, options) {
      options?.signal?.throwIfAborted();
      const now = clock.now();
      expire(now);
      const heaps = [...new Set(kinds)].flatMap((kind) => waiting.get(kind) ?? []);
      const handed: LeasedJob[] = [];
      while (handed.length < limit) {
        let next: Job | undefined;
        for (const heap of heaps) {
          const first = heap.first();
          if (first !== undefined && (next === undefined || isEarlier(first, next))) next = first;
        }
        if (next === undefined || next.runAt > now) break;
        waitingOf(next.kind).remove(next);
        handed.push(handOut(next, now + (leaseMsOf?.[next.kind] ?? leaseMs)));
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
      waitingOf(job.kind).push(job);
      announce(runAt);
      return true;
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
      for (const job of jobs.values()) if (!job.isLeased && job.runAt <= now) ready += 1;
      return { ready, delayed: jobs.size - leased.size - ready, leased: leased.size };
    },
  };
}

function isEarlier(a: Job, b: Job): boolean {
  return a.runAt < b.runAt || (a.runAt === b.runAt && a.number < b.number);
}
