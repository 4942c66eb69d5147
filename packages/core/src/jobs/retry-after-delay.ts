import type { LeasedJob, Reschedule } from '../ports/queue.ts';

/** A worker may run before the deletion commits. After the last pause the deletion has completed or failed. */
const PAUSES_MS = [1000, 60_000];

/** For a clean-up job that is enqueued before the deletion and still finds the record. */
export function retryAfterDelay({ attempt }: LeasedJob): Reschedule | undefined {
  const afterMs = PAUSES_MS[attempt - 1];
  return afterMs === undefined ? undefined : { afterMs, countAttempt: true };
}
