import type { LeasedJob } from '../ports/queue.ts';

/** The right to run one job of a kind and an owner in this process. It counts as a running job. */
export interface JobSlot {
  /** Lease of the job, in milliseconds. */
  readonly leaseMs: number;
  /** Runs the job, so call it after the answer of the request is on its way. */
  start(job: LeasedJob): void;
  /** Gives the slot back. No effect after `start`. */
  cancel(): void;
}

/** @returns undefined while no slot is free for this kind and owner, or other jobs may wait. */
export type AcquireSlot = (kind: string, owner: string | undefined) => JobSlot | undefined;

/** The slots of the workers of this process, for jobs that it accepts. */
export interface JobSlots {
  readonly acquire: AcquireSlot;
  /** Adds a worker. @returns a function that removes it. */
  offer(acquire: AcquireSlot): () => void;
}

export function createJobSlots(): JobSlots {
  const workers = new Set<{ readonly acquire: AcquireSlot }>();
  return {
    acquire(kind, owner) {
      for (const worker of workers) {
        const slot = worker.acquire(kind, owner);
        if (slot !== undefined) return slot;
      }
      return undefined;
    },
    offer(acquire) {
      const worker = { acquire };
      workers.add(worker);
      return () => workers.delete(worker);
    },
  };
}
