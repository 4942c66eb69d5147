import type { Clock } from '../ports/clock.ts';
import type { JobQueue, JobWrites } from '../ports/queue.ts';
import { followed } from '../ports/write-all.ts';
import type { Incident } from '../shared/incident.ts';

/** Two looks of this distance must agree, because a busy worker may leave a moment without leased jobs. */
const LOOK_AFTER_MS = 5000;
/** Pause after a look that found a worker, in milliseconds: counting costs a query. */
const LOOK_AGAIN_MS = 60_000;

const UNATTENDED =
  'Accepted jobs wait, and no worker runs them. Call `api.start()` in a process with the same store and queue, or ' +
  'leave out `worker: false` of `createApi`.';

/** Knows whether accepted jobs have a worker: in this process, or in another one as far as the queue shows. */
export interface JobWatch {
  /** Calls the listener after every job that this process accepted. @returns a function that ends it. */
  onAccepted(listener: () => void): () => void;
  /** A worker of this process started. @returns a function to call when it stopped. */
  workerStarted(): () => void;
  /** True: jobs are due, this process has no worker, and no other process holds a job. */
  isUnattended(): Promise<boolean>;
}

/**
 * Watches the jobs of a queue. It has a timer only while this process accepts jobs and has no worker; it reports jobs
 * without a worker once.
 * @returns the watch, and the queue to enqueue with.
 */
export function watchJobs(
  queue: JobQueue,
  { clock, onError }: { readonly clock: Clock; readonly onError: (incident: Incident) => void },
): { readonly jobWatch: JobWatch; readonly queue: JobQueue } {
  const listeners = new Set<{ readonly call: () => void }>();
  let workers = 0;
  let isLooking = false;

  const isUnattended = async (): Promise<boolean> => {
    if (workers > 0) return false;
    try {
      const { ready, leased } = await queue.counts();
      return workers === 0 && ready > 0 && leased === 0;
    } catch {
      // The queue is unavailable, which its other calls report.
      return false;
    }
  };

  const look = async (before: boolean): Promise<void> => {
    const now = await isUnattended();
    if (now && before) {
      // No further look: they are reported once.
      onError({ operation: 'worker', requestId: '', error: new Error(UNATTENDED) });
    } else if (now) {
      clock.timer(LOOK_AFTER_MS, () => void look(true));
    } else {
      clock.timer(LOOK_AGAIN_MS, () => {
        isLooking = false;
      });
    }
  };

  const accepted = (): void => {
    for (const listener of [...listeners]) listener.call();
    if (workers > 0 || isLooking) return;
    isLooking = true;
    clock.timer(LOOK_AFTER_MS, () => void look(false));
  };

  return {
    queue: {
      enqueue: (job, options) =>
        queue.enqueue(job, options).then((outcome) => {
          accepted();
          return outcome;
        }),
      lease: (want, options) => queue.lease(want, options),
      renew: (job, leaseMs, options) => queue.renew(job, leaseMs, options),
      finish: (job, options) => queue.finish(job, options),
      retry: (job, back, options) => queue.retry(job, back, options),
      ...(queue.findKeys !== undefined && {
        findKeys: (keys, options) => queue.findKeys?.(keys, options) ?? Promise.resolve([]),
      }),
      ...(queue.writes !== undefined && { writes: watchWrites(queue.writes, accepted) }),
      onReady: (listener) => queue.onReady(listener),
      counts: (options) => queue.counts(options),
    },
    jobWatch: {
      onAccepted(call) {
        const listener = { call };
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      workerStarted() {
        workers += 1;
        return () => {
          workers -= 1;
        };
      },
      isUnattended,
    },
  };
}

function watchWrites(writes: JobWrites, accepted: () => void): JobWrites {
  return {
    enqueue: (job) => followed(writes.enqueue(job), accepted),
    ...(writes.enqueueLeased !== undefined && { enqueueLeased: writes.enqueueLeased.bind(writes) }),
    finish: (job) => writes.finish(job),
  };
}
