import type { Incident } from '../incident.ts';
import type { Observer } from '../observing/observer.ts';
import { carriedBy } from '../observing/queue.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue, LeasedJob } from '../ports/queue.ts';
import { isStorageUnavailable } from '../ports/store.ts';

/** What is to become of a job that did not end. */
export interface RunAgain {
  /** Milliseconds from now. */
  readonly afterMs: number;
  /** False: as if it had not run. */
  readonly countAttempt: boolean;
}

/**
 * Leases a job for `worker.leaseMs` from now on, whatever its kind says: before something that must not be taken over
 * after a short silence. @throws JobInterrupted when the lease is lost.
 */
export type Prolong = () => Promise<void>;

/** How one kind of job is done. */
export interface JobHandler {
  readonly kind: string;
  /** How many run at a time in one process. */
  readonly concurrency: number;
  /** How long its jobs are leased. A short job leased for a short time is soon done again. Default: `worker.leaseMs`. */
  readonly leaseMs?: number;
  /**
   * Resolves when the job has ended, or with when it is to run again; rejects to be tried again after a growing pause.
   * A job may run more than once, so what it does must be safe to repeat. `signal` is aborted with a `JobInterrupted`.
   */
  run(job: LeasedJob, signal: AbortSignal, prolong: Prolong): Promise<RunAgain | undefined>;
}

/** Why a job must stop: its lease was lost and somebody else may have it, or the process is about to end. */
export class JobInterrupted extends Error {
  override readonly name = 'JobInterrupted';
  readonly reason: 'lease-lost' | 'stopping';
  constructor(reason: 'lease-lost' | 'stopping') {
    super(`the job was interrupted: ${reason}`);
    this.reason = reason;
  }
}

export function isJobInterrupted(error: unknown): error is JobInterrupted {
  return error instanceof Error && error.name === 'JobInterrupted' && 'reason' in error;
}

export interface WorkerSettings {
  /** A job whose worker shows no sign of life for so long is given to another, at the latest. Default 60,000 ms. */
  readonly leaseMs: number;
  /** How often the queue is asked without being called. Default 1000 ms. */
  readonly pollMs: number;
  /** By kind of job: how many run at a time in this process. */
  readonly concurrency: Readonly<Record<string, number>>;
}

export const DEFAULT_WORKER_SETTINGS: WorkerSettings = { leaseMs: 60_000, pollMs: 1000, concurrency: {} };

/** Does jobs, once it is started. */
export interface Worker {
  readonly running: boolean;
  start(): void;
  /**
   * Takes no more jobs and lets those under way end. What has not ended after `timeoutMs` is interrupted, and goes back
   * to the queue as if it had not run.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** After so many failed runs a job is given up: nothing about it will change. */
const MOST_ATTEMPTS = 20;
const LONGEST_PAUSE_MS = 300_000;
/** So long an interrupted job may take to put its things away. */
const INTERRUPTED_MS = 5000;

interface ActiveJob {
  readonly job: LeasedJob;
  readonly interruption: AbortController;
  ended: Promise<void>;
  leaseMs: number;
  leaseUntil: number;
  /** When a third of the lease has passed. */
  renewAt: number;
  /** One renewal after the other: the last one asked for counts. */
  renewing: Promise<unknown>;
}

export function createWorker(services: {
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly handlers: readonly JobHandler[];
  readonly settings: WorkerSettings;
  readonly observer?: Observer | undefined;
  readonly onError: (incident: Incident) => void;
}): Worker {
  const { queue, clock, settings } = services;
  const observe = services.observer?.job;
  const lanes = new Map(
    services.handlers.map((handler) => {
      const most = settings.concurrency[handler.kind] ?? handler.concurrency;
      return [handler.kind, { handler, most, active: 0 }];
    }),
  );
  const leaseMsOf = Object.fromEntries(
    services.handlers.flatMap(({ kind, leaseMs }) => (leaseMs === undefined ? [] : [[kind, leaseMs]])),
  );
  /** In thirds of the shortest lease. */
  const beatMs = Math.floor(Math.min(settings.leaseMs, ...Object.values(leaseMsOf)) / 3);
  const active = new Set<ActiveJob>();
  let isRunning = false;
  let isWoken = false;
  /** Somebody called while the queue was being asked: ask once more. */
  let isWanted = false;
  let pumping: Promise<void> | undefined;
  let endings: (() => void)[] = [];

  const report = (kind: string, error: unknown): void => {
    services.onError({ operation: `job:${kind}`, requestId: '', error });
  };

  /** Runs soon, but not before whoever woke it has answered its own caller. */
  const wake = (): void => {
    if (isWoken || !isRunning) return;
    isWoken = true;
    setImmediate(() => {
      isWoken = false;
      isWanted = true;
      pumping ??= pump()
        .catch((error: unknown) => report('lease', error))
        .finally(() => {
          pumping = undefined;
          if (isWanted) wake();
        });
    });
  };

  /** Leases until there is nothing due or nobody free. One question serves all kinds that have somebody free. */
  const pump = async (): Promise<void> => {
    while (isRunning) {
      isWanted = false;
      const free = [...lanes.values()].filter((lane) => lane.active < lane.most);
      if (free.length === 0) return;
      const limit = Math.min(...free.map((lane) => lane.most - lane.active));
      const kinds = free.map((lane) => lane.handler.kind);
      const jobs = await queue.lease({ kinds, limit, leaseMs: settings.leaseMs, leaseMsOf });
      for (const job of jobs) launch(job);
      if (jobs.length < limit && !isWanted) return;
    }
  };

  const launch = (job: LeasedJob): void => {
    const lane = lanes.get(job.kind);
    if (lane === undefined) return;
    const { handler } = lane;
    const leaseMs = handler.leaseMs ?? settings.leaseMs;
    const entry: ActiveJob = {
      job,
      interruption: new AbortController(),
      ended: Promise.resolve(),
      leaseMs,
      leaseUntil: job.leaseUntil,
      renewAt: clock.now() + leaseMs / 3,
      renewing: Promise.resolve(),
    };
    lane.active += 1;
    active.add(entry);
    entry.ended = execute(handler, entry).finally(() => {
      lane.active -= 1;
      active.delete(entry);
      wake();
    });
    // It was leased while the worker was told to stop.
    if (!isRunning) entry.interruption.abort(new JobInterrupted('stopping'));
  };

  const execute = async (handler: JobHandler, entry: ActiveJob): Promise<void> => {
    const { job } = entry;
    try {
      const again = await attempt(handler, entry);
      if (again === undefined) await queue.finish(job);
      else await queue.retry(job, { runAt: clock.now() + again.afterMs, countAttempt: again.countAttempt });
    } catch (error) {
      // The lease runs out, and somebody does it again.
      report(job.kind, error);
    }
  };

  const attempt = async (handler: JobHandler, entry: ActiveJob): Promise<RunAgain | undefined> => {
    const { job } = entry;
    const { signal } = entry.interruption;
    const run = () => handler.run(job, signal, () => prolong(entry));
    try {
      if (observe === undefined) return await run();
      const { kind, attempt } = job;
      return await observe({ kind, attempt, carried: carriedBy(job) }, run);
    } catch (error) {
      if (signal.aborted && isJobInterrupted(signal.reason) && signal.reason.reason === 'stopping') {
        return { afterMs: 0, countAttempt: false };
      }
      report(job.kind, error);
      const isOurs = !isStorageUnavailable(error);
      if (isOurs && job.attempt >= MOST_ATTEMPTS) return undefined;
      return { afterMs: pauseAfter(job.attempt), countAttempt: isOurs };
    }
  };

  const renew = (entry: ActiveJob): Promise<void> => {
    const { job, leaseMs, interruption } = entry;
    entry.renewAt = clock.now() + leaseMs / 3;
    const renewed = entry.renewing.then(async () => {
      const leaseUntil = clock.now() + leaseMs;
      if (await queue.renew(job, leaseMs)) entry.leaseUntil = leaseUntil;
      else interruption.abort(new JobInterrupted('lease-lost'));
    });
    entry.renewing = renewed.catch(() => undefined);
    return renewed;
  };

  const prolong = async (entry: ActiveJob): Promise<void> => {
    entry.leaseMs = settings.leaseMs;
    await renew(entry);
    entry.interruption.signal.throwIfAborted();
  };

  /** One heartbeat for all: a job that is short never needs any. */
  const renewAll = (): void => {
    const nextBeat = clock.now() + beatMs;
    for (const entry of active) {
      if (nextBeat <= entry.renewAt) continue;
      renew(entry).catch((error: unknown) => {
        report(entry.job.kind, error);
        if (entry.leaseUntil <= clock.now()) entry.interruption.abort(new JobInterrupted('lease-lost'));
      });
    }
  };

  const start = (): void => {
    if (isRunning) return;
    isRunning = true;
    endings = [
      queue.onReady(wake),
      repeating(clock, settings.pollMs, wake),
      repeating(clock, beatMs, renewAll),
    ];
    wake();
  };

  const drain = async (timeoutMs: number): Promise<void> => {
    if (!isRunning) return;
    isRunning = false;
    const [stopListening, stopPolling, stopRenewing] = endings;
    stopListening?.();
    stopPolling?.();
    await pumping;
    await ended(timeoutMs);
    for (const { interruption } of active) interruption.abort(new JobInterrupted('stopping'));
    await ended(INTERRUPTED_MS);
    stopRenewing?.();
  };

  /** Resolves when nothing is active any more, at the latest after `timeoutMs`. */
  const ended = async (timeoutMs: number): Promise<void> => {
    if (active.size === 0 || timeoutMs <= 0) return;
    let cancel = (): void => undefined;
    const timeout = new Promise<void>((resolve) => {
      cancel = clock.timer(timeoutMs, resolve);
    });
    await Promise.race([Promise.all([...active].map((entry) => entry.ended)), timeout]);
    cancel();
  };

  return {
    get running() {
      return isRunning;
    },
    start,
    drain,
  };
}

/** 1 s, 2 s, 4 s … up to 5 min. */
function pauseAfter(attempt: number): number {
  return Math.min(LONGEST_PAUSE_MS, 1000 * 2 ** (attempt - 1));
}

/** Calls again and again until it is stopped. */
export function repeating(clock: Clock, everyMs: number, call: () => void): () => void {
  let cancel = clock.timer(everyMs, ring);
  function ring(): void {
    cancel = clock.timer(everyMs, ring);
    call();
  }
  return () => cancel();
}
