import type { LeasedJob } from '../ports/queue.ts';
import type { RunAgain } from './worker.ts';

/** A worker may be quicker than the deletion. After the last pause, whoever was deleting has finished or failed. */
const PAUSES_MS = [1000, 60_000];

/** For a job that is written down before what it is to clear away is deleted, and finds it still there. */
export function lookAgain({ attempt }: LeasedJob): RunAgain | undefined {
  const afterMs = PAUSES_MS[attempt - 1];
  return afterMs === undefined ? undefined : { afterMs, countAttempt: true };
}
