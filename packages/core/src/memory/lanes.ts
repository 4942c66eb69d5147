import type { OwnerLimit } from '../ports/queue.ts';
import { createHeap, type Heap, type HeapItem } from './heap.ts';

/** A waiting job. */
export interface WaitingJob extends HeapItem {
  /** Empty: no owner. */
  readonly owner: string;
  /** Sorts jobs with the same `runAt`. */
  readonly number: number;
  runAt: number;
}

/** The waiting jobs of one kind: one lane per owner, in round-robin order. */
export interface Lanes<T extends WaitingJob> {
  push(job: T, now: number): void;
  remove(job: T): void;
  /** Moves jobs that have become due into the lanes of their owners. */
  promote(now: number): void;
  /** Returns the oldest job of the next owner below its limit. `held` includes the jobs of this call. */
  next(limit: OwnerLimit | undefined): T | undefined;
  /** Removes a leased job and moves its owner to the end. */
  serve(job: T): void;
  /** The due time of the next delayed job. */
  nextDueAt(): number | undefined;
  ready(): number;
}

export function createLanes<T extends WaitingJob>(): Lanes<T> {
  const delayed = createHeap<T>(isEarlier);
  /** A map keeps insertion order: its first owner is next. No lane is empty. */
  const lanes = new Map<string, Heap<T>>();
  let ready = 0;

  const pushReady = (job: T): void => {
    const lane = lanes.get(job.owner) ?? createHeap<T>(isEarlier);
    lanes.set(job.owner, lane);
    lane.push(job);
    ready += 1;
  };

  const remove = (job: T): void => {
    delayed.remove(job);
    const lane = lanes.get(job.owner);
    if (lane === undefined || job.slot < 0) return;
    lane.remove(job);
    ready -= 1;
    if (lane.size() === 0) lanes.delete(job.owner);
  };

  return {
    push(job, now) {
      if (job.runAt <= now) pushReady(job);
      else delayed.push(job);
    },
    remove,
    promote(now) {
      for (let job = delayed.first(); job !== undefined && job.runAt <= now; job = delayed.first()) {
        delayed.remove(job);
        pushReady(job);
      }
    },
    next(limit) {
      for (const [owner, lane] of lanes) {
        if (owner === '' || limit === undefined || (limit.held.get(owner) ?? 0) < limit.max) {
          return lane.first();
        }
      }
      return undefined;
    },
    serve(job) {
      remove(job);
      const lane = lanes.get(job.owner);
      if (lane === undefined) return;
      lanes.delete(job.owner);
      lanes.set(job.owner, lane);
    },
    nextDueAt: () => delayed.first()?.runAt,
    ready: () => ready,
  };
}

export function isEarlier(a: WaitingJob, b: WaitingJob): boolean {
  return a.runAt < b.runAt || (a.runAt === b.runAt && a.number < b.number);
}
