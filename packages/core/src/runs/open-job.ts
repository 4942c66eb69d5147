import type { JobSlot, JobSlots } from '../jobs/job-slots.ts';
import type { CompletingWrite } from '../operations/idempotency.ts';
import type { JobQueue, LeasedJob, NewJob } from '../ports/queue.ts';

/** The job of one quest that is being accepted. */
export interface OpenJob {
  /** The write of the job, for one step with that of the quest. Undefined: the queue has none. */
  toWrite(job: NewJob): CompletingWrite | undefined;
  /** Call once. @param isWritten whether the write has taken effect. */
  end(isWritten: boolean): void;
}

/** Opens a job. One that can run here at once is leased from the beginning, so that no worker has to find it. */
export function openJob({
  queue: { writes },
  jobSlots,
}: {
  readonly queue: JobQueue;
  readonly jobSlots: JobSlots;
}): OpenJob {
  let leased: { readonly slot: JobSlot; readonly job: LeasedJob } | undefined;
  return {
    toWrite(job) {
      if (writes === undefined) return undefined;
      if (writes.enqueueLeased === undefined || job.runAt !== undefined)
        return { write: writes.enqueue(job) };
      const slot = jobSlots.acquire(job.kind, job.owner);
      if (slot === undefined) return { write: writes.enqueue(job) };
      const { write, job: lease } = writes.enqueueLeased(job, slot.leaseMs);
      leased = { slot, job: lease };
      return { write, lease };
    },
    end(isWritten) {
      if (leased === undefined) return;
      const { slot, job } = leased;
      if (!isWritten) slot.cancel();
      // The answer of the request comes first.
      else setImmediate(() => slot.start(job));
    },
  };
}
