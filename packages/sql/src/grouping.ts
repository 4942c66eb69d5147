import { isStorageUnavailable } from '@questline/core/ports';
import type { RunOptions } from './database.ts';
import { createDeadline, type Deadline, within } from './deadline.ts';

/** Default number of groups that run at once. One alone would wait for each turn of one connection on a busy machine. */
const MAX_RUNNING = 4;

/** Runs calls of one kind. */
export interface GroupedWork<Call, Result> {
  /** Maximum number of calls of one group. */
  readonly max: number;
  /** Milliseconds until a call gives up, its wait included. */
  readonly timeoutMs: number;
  /** Maximum number of groups that run at once. */
  readonly maxRunning?: number;
  /** Runs calls in one step, which has an effect as a whole or not at all. @returns the results in the order of the calls. */
  runAll(calls: readonly Call[], options: RunOptions): Promise<readonly Result[]>;
  runOne(call: Call, options: RunOptions): Promise<Result>;
}

interface WaitingCall<Call, Result> {
  readonly call: Call;
  readonly deadline: Deadline;
  readonly signal: AbortSignal | undefined;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Gathers the calls that arrive while `maxRunning` others run, so that they share one statement and one commit. The first ones run at
 * once, and one that waits does so only for the first of them to end. If a group fails, each of its calls runs
 * alone: the error of one is never that of another. Only the loss of the engine fails them all.
 */
export function createGrouping<Call, Result>({
  max,
  timeoutMs,
  maxRunning = MAX_RUNNING,
  runAll,
  runOne,
}: GroupedWork<Call, Result>): (call: Call, options?: RunOptions) => Promise<Result> {
  let waiting: WaitingCall<Call, Result>[] = [];
  let running = 0;

  const runAlone = async ({ call, deadline, resolve, reject }: WaitingCall<Call, Result>): Promise<void> => {
    try {
      resolve(await runOne(call, { timeoutMs: deadline.left() }));
    } catch (error) {
      reject(error);
    }
  };

  const runGroup = async (group: readonly WaitingCall<Call, Result>[]): Promise<void> => {
    const [first, second] = group;
    if (first === undefined) return;
    if (second === undefined) return runAlone(first);
    try {
      const limit = Math.max(...group.map(({ deadline }) => deadline.left()));
      const results = await runAll(
        group.map(({ call }) => call),
        { timeoutMs: limit },
      );
      for (const [at, one] of group.entries()) one.resolve(results[at] as Result);
    } catch (error) {
      if (isStorageUnavailable(error)) for (const one of group) one.reject(error);
      else await Promise.all(group.map(runAlone));
    }
  };

  const runWaiting = async (): Promise<void> => {
    running += 1;
    while (waiting.length > 0) {
      const group = waiting.slice(0, max);
      waiting = waiting.slice(max);
      // A signal and the time limit have an effect until the statement is sent.
      const live = group.filter(({ signal, deadline, reject }) => {
        if (signal?.aborted === true) reject(signal.reason);
        return signal?.aborted !== true && deadline.left() > 0;
      });
      await runGroup(live);
    }
    running -= 1;
  };

  return (call, { signal, timeoutMs: limit = timeoutMs } = {}) => {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const deadline = createDeadline(limit);
    const result = new Promise<Result>((resolve, reject) => {
      waiting.push({ call, deadline, signal, resolve, reject });
    });
    if (running < maxRunning) void runWaiting();
    return within(result, deadline, 'a grouped PostgreSQL statement');
  };
}

/** The same for calls that change one row each: a group has calls of one row, and of each row one group runs at once. */
export function createRowGrouping<Call, Result>(
  toWork: (row: string) => GroupedWork<Call, Result>,
): (row: string, call: Call, options?: RunOptions) => Promise<Result> {
  /** Rows without calls are absent. */
  const rows = new Map<
    string,
    { readonly run: (call: Call, options?: RunOptions) => Promise<Result>; calls: number }
  >();

  return async (row, call, options) => {
    const entry = rows.get(row) ?? { run: createGrouping({ ...toWork(row), maxRunning: 1 }), calls: 0 };
    rows.set(row, entry);
    entry.calls += 1;
    try {
      return await entry.run(call, options);
    } finally {
      entry.calls -= 1;
      if (entry.calls === 0) rows.delete(row);
    }
  };
}
