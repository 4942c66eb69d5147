import type { Observer } from '../observability/observer.ts';
import { carriedBy } from '../observability/queue.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue, LeasedJob, OwnerLimit } from '../ports/queue.ts';
import { isStorageUnavailable } from '../ports/store.ts';
import { createBag } from '../shared/bag.ts';
import type { Incident } from '../shared/incident.ts';
import type { JobEnd, JobHandler } from './handler.ts';
import { isJobInterrupted, JobInterrupted } from './interruption.ts';
import type { AcquireSlot } from './job-slots.ts';
import { createLeaseRenewal, type HeldLease } from './lease-renewal.ts';
import { repeating } from './repeating.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Runs jobs after `start`. */
export interface Worker {
  running(): boolean;
  start(): void;
  /** Acquires a slot for a job that this process accepts, unless it may have to wait behind others. */
  readonly acquire: AcquireSlot;
  /**
   * Takes no new jobs and waits for running jobs. After `timeoutMs` it interrupts the rest; these return to the queue
   * without a counted attempt.
   */
  drain(timeoutMs: number): Promise<void>;
}

/** Maximum attempts of a failing job. After that the job is dropped. */
const MAX_ATTEMPTS = 20;
const MAX_PAUSE_MS = 300_000;
/** Maximum number of jobs of one lease call: after a call that found all jobs, and after one that left some. */
const FEW_LEASED = 4;
const MAX_LEASED = 16;
/** Maximum clean-up time of an interrupted job, in milliseconds. */
const INTERRUPTED_MS = 5000;

interface ActiveJob extends HeldLease {
  ended: Promise<void>;
}

/** The slots of one kind. */
interface Lane {
  readonly handler: JobHandler;
  readonly most: number;
  active: number;
  readonly owners: { readonly max: number; readonly held: Map<string, number> };
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
  const lanes = new Map<string, Lane>(
    services.handlers.map((handler) => {
      const most = settings.concurrency[handler.kind] ?? handler.concurrency;
      const max = settings.maxPerOwner[handler.kind] ?? handler.maxPerOwner ?? Math.ceil(most / 3);
      return [handler.kind, { handler, most, active: 0, owners: { max, held: new Map<string, number>() } }];
    }),
  );
  const perOwner = Object.fromEntries([...lanes].map(([kind, { owners }]) => [kind, owners]));
  const leaseMsByKind = Object.fromEntries(
    services.handlers.flatMap(({ kind, leaseMs }) => (leaseMs === undefined ? [] : [[kind, leaseMs]])),
  );
  /** A third of the shortest lease. */
  const beatMs = Math.floor(Math.min(settings.leaseMs, ...Object.values(leaseMsByKind)) / 3);
  const active = createBag<ActiveJob>();
  /** Slots of jobs that are being accepted. */
  const reserved = createBag<Promise<void>>();
  let isRunning = false;
  let isWoken = false;
  /** A wake-up arrived during a lease call: lease once more. */
  let isWanted = false;
  /** The last look found all jobs of the kinds and owners with a free slot. */
  let isDrained = false;
  let pumping: Promise<void> | undefined;
  let endings: (() => void)[] = [];

  const report = (kind: string, error: unknown): void => {
    services.onError({ operation: `job:${kind}`, requestId: '', error });
  };

  const renewal = createLeaseRenewal({ queue, clock, beatMs, report });

  /** Runs in a later tick, so that the caller of `enqueue` continues first. */
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

  const getMaxLeased = (): number => (isDrained ? FEW_LEASED : MAX_LEASED);

  /** Leases until no job is due or no slot is free. One call covers all kinds with free slots. */
  const pump = async (): Promise<void> => {
    while (isRunning) {
      isWanted = false;
      const free = [...lanes.values()].filter((lane) => lane.active < lane.most);
      if (free.length === 0) return;
      const rooms = free.map(({ handler, most, active }) => [handler.kind, most - active] as const);
      const limit = Math.min(
        getMaxLeased(),
        rooms.reduce((sum, [, room]) => sum + room, 0),
      );
      const kinds = rooms.map(([kind]) => kind);
      const limitByKind = Object.fromEntries(rooms);
      const { leaseMs } = settings;
      const jobs = await queue.lease({ kinds, limit, limitByKind, leaseMs, leaseMsByKind, perOwner });
      isDrained = jobs.length < limit;
      for (const job of jobs) launch(job);
      // `wake` begins another look if one is wanted.
      if (isDrained) return;
    }
  };

  /** Counts a job as running. @returns a function that ends it. */
  const occupy = (lane: Lane, owner: string | undefined): (() => void) => {
    lane.active += 1;
    count(lane.owners.held, owner, 1);
    return () => {
      const mayUnblock = lane.active >= lane.most || isFull(lane.owners, owner);
      lane.active -= 1;
      count(lane.owners.held, owner, -1);
      // A look that runs may have counted this job.
      if (mayUnblock || !isDrained || pumping !== undefined) wake();
    };
  };

  const launch = (job: LeasedJob): void => {
    const lane = lanes.get(job.kind);
    if (lane !== undefined) run(lane, job, occupy(lane, job.owner));
  };

  const run = ({ handler }: Lane, job: LeasedJob, vacate: () => void): void => {
    const leaseMs = handler.leaseMs ?? settings.leaseMs;
    const entry: ActiveJob = { ...renewal.enter(job, leaseMs), ended: Promise.resolve() };
    const remove = active.add(entry);
    entry.ended = execute(handler, entry).finally(() => {
      remove();
      vacate();
    });
    // The job was leased while the worker was stopping.
    if (!isRunning) entry.interruption.abort(new JobInterrupted('stopping'));
  };

  const acquire: AcquireSlot = (kind, owner) => {
    const lane = lanes.get(kind);
    if (lane === undefined || !isRunning) return undefined;
    // Slots that a look may fill are not free: jobs that wait come before new ones.
    const isQuiet = isDrained && !isWoken && !isWanted && pumping === undefined;
    const awaited = isQuiet ? 0 : getMaxLeased();
    if (lane.active + awaited >= lane.most || isFull(lane.owners, owner, awaited)) return undefined;
    const vacate = occupy(lane, owner);
    let end = (): void => undefined;
    const remove = reserved.add(
      new Promise<void>((resolve) => {
        end = resolve;
      }),
    );
    let isOver = false;
    const use = (then: () => void): void => {
      if (isOver) return;
      isOver = true;
      then();
      remove();
      end();
    };
    return {
      leaseMs: lane.handler.leaseMs ?? settings.leaseMs,
      start: (job) => use(() => run(lane, job, vacate)),
      cancel: () => use(vacate),
    };
  };

  const execute = async (handler: JobHandler, entry: ActiveJob): Promise<void> => {
    const { job } = entry;
    try {
      const again = await attempt(handler, entry);
      if (again === undefined) await queue.finish(job);
      else if (again !== 'finished')
        await queue.retry(job, { runAt: clock.now() + again.afterMs, countAttempt: again.countAttempt });
    } catch (error) {
      // The lease expires, and another worker runs the job.
      report(job.kind, error);
    }
  };

  const attempt = async (handler: JobHandler, entry: ActiveJob): Promise<JobEnd> => {
    const { job } = entry;
    const { signal } = entry.interruption;
    const runJob = () => handler.run(job, signal, () => renewal.extend(entry, settings.leaseMs));
    try {
      if (observe === undefined) return await runJob();
      const { kind, attempt } = job;
      let hasFinished = false;
      const again = await observe({ kind, attempt, carried: carriedBy(job) }, async () => {
        const end = await runJob();
        hasFinished = end === 'finished';
        return end === 'finished' ? undefined : end;
      });
      return hasFinished ? 'finished' : again;
    } catch (error) {
      if (isJobInterrupted(signal.reason) && signal.reason.reason === 'stopping') {
        return { afterMs: 0, countAttempt: false };
      }
      report(job.kind, error);
      const isOurs = !isStorageUnavailable(error);
      if (isOurs && job.attempt >= MAX_ATTEMPTS) return undefined;
      return { afterMs: pauseAfter(job.attempt), countAttempt: isOurs };
    }
  };

  const start = (): void => {
    if (isRunning) return;
    isRunning = true;
    endings = [
      queue.onReady(wake),
      // A look that runs is as good.
      repeating(clock, settings.pollMs, () => pumping === undefined && wake()),
      repeating(clock, beatMs, () => renewal.renewAll(active.values())),
    ];
    wake();
  };

  const drain = async (timeoutMs: number): Promise<void> => {
    if (!isRunning) return;
    isRunning = false;
    const [stopListening, stopPolling, stopRenewing] = endings;
    stopListening?.();
    stopPolling?.();
    await Promise.all([pumping, ...reserved.values()]);
    await ended(timeoutMs);
    for (const { interruption } of active.values()) interruption.abort(new JobInterrupted('stopping'));
    await ended(INTERRUPTED_MS);
    stopRenewing?.();
  };

  /** Resolves when no job is active, at the latest after `timeoutMs`. */
  const ended = async (timeoutMs: number): Promise<void> => {
    if (active.size() === 0 || timeoutMs <= 0) return;
    let cancel = (): void => undefined;
    const timeout = new Promise<void>((resolve) => {
      cancel = clock.timer(timeoutMs, resolve);
    });
    await Promise.race([Promise.all(active.values().map((entry) => entry.ended)), timeout]);
    cancel();
  };

  return {
    running: () => isRunning,
    start,
    acquire,
    drain,
  };
}

/** Whether jobs of the owner may wait for one that runs. @param awaited jobs that may start meanwhile. */
function isFull({ max, held }: OwnerLimit, owner: string | undefined, awaited = 0): boolean {
  return owner !== undefined && (held.get(owner) ?? 0) + awaited >= max;
}

/** Removes owners without running jobs. */
function count(held: Map<string, number>, owner: string | undefined, change: number): void {
  if (owner === undefined) return;
  const now = (held.get(owner) ?? 0) + change;
  if (now === 0) held.delete(owner);
  else held.set(owner, now);
}

/** 1 s, 2 s, 4 s … up to 5 min. */
function pauseAfter(attempt: number): number {
  return Math.min(MAX_PAUSE_MS, 1000 * 2 ** (attempt - 1));
}
