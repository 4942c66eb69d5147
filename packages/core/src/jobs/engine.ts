import type { Observer } from '../observability/observer.ts';
import type { AdmissionControl } from '../operations/admission-control.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { createBag } from '../shared/bag.ts';
import type { Incident } from '../shared/incident.ts';
import type { JobHandler } from './handler.ts';
import type { JobSlots } from './job-slots.ts';
import type { JobWatch } from './job-watch.ts';
import { repeating } from './repeating.ts';
import { createTaskTurns } from './task-turns.ts';
import { createWorker } from './worker.ts';
import type { WorkerSettings } from './worker-settings.ts';

/**
 * A short task that runs periodically, in one of the processes whose engines run. It must be safe to run in several
 * processes at once: a run may outlast its period.
 */
export interface PeriodicTask {
  readonly name: string;
  readonly everyMs: number;
  /** Also runs when the engine starts, in each process. */
  readonly atStart?: boolean;
  run(): Promise<unknown>;
}

/** The background parts of the service. */
export interface EngineParts {
  readonly handlers: readonly JobHandler[];
  readonly periodicTasks: readonly PeriodicTask[];
  /** Each function subscribes and returns a function that unsubscribes. */
  readonly subscriptions: readonly (() => Promise<() => Promise<void>>)[];
  /** Called when no work runs in this process. */
  onDrained(): void;
}

export interface EngineServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly jobWatch: JobWatch;
  readonly jobSlots: JobSlots;
  readonly clock: Clock;
  readonly admissionControl: AdmissionControl;
  readonly worker: WorkerSettings;
  readonly observer?: Observer;
  readonly onError: (incident: Incident) => void;
}

/** Retry interval of failed subscriptions. Without a subscription, work continues and polls. */
const SUBSCRIBE_AGAIN_MS = 60_000;

/** Maximum wait of a shutdown for periodic tasks, in milliseconds. */
const CHORES_END_MS = 1000;

/** Runs accepted work after `start`. It may run in another process than the API. */
export interface Engine {
  start(): Promise<void>;
  /** Rejects new work immediately. Resolves when all work of this process has completed or returned to the queue. */
  drain(timeoutMs: number): Promise<void>;
}

export function createEngine(services: EngineServices, parts: EngineParts): Engine {
  const { queue, clock, admissionControl, onError } = services;
  const worker = createWorker({
    queue,
    clock,
    handlers: parts.handlers,
    settings: services.worker,
    observer: services.observer,
    onError,
  });
  const turns = createTaskTurns(services);
  let endings: (() => void | Promise<void>)[] = [];

  const running = createBag<Promise<void>>();

  const runChore = (periodicTask: PeriodicTask): void => {
    const run = async (): Promise<void> => {
      try {
        await periodicTask.run();
      } catch (error) {
        onError({ operation: `chore:${periodicTask.name}`, requestId: '', error });
      }
    };
    const ended = run();
    const remove = running.add(ended);
    void ended.then(remove);
  };

  /** The host closes its ports afterwards. Waits at most `CHORES_END_MS`. */
  const untilChoresEnd = (): Promise<void> => {
    const all = Promise.all(running.values());
    return new Promise((resolve) => {
      const cancel = clock.timer(CHORES_END_MS, resolve);
      void all.then(() => {
        cancel();
        resolve();
      });
    });
  };

  const runInTurn = (periodicTask: PeriodicTask): void =>
    runChore({
      ...periodicTask,
      async run() {
        if (await turns.take(periodicTask)) await periodicTask.run();
      },
    });

  /** Subscribes, with retries. @returns a function that unsubscribes, after the first attempt. */
  const listen = async (subscribe: () => Promise<() => Promise<void>>): Promise<() => Promise<void>> => {
    let isOver = false;
    let end: (() => Promise<void>) | undefined;
    let cancel = (): void => undefined;
    const attempt = async (): Promise<void> => {
      try {
        end = await subscribe();
        if (isOver) await end();
      } catch (error) {
        onError({ operation: 'subscribe', requestId: '', error });
        if (!isOver) cancel = clock.timer(SUBSCRIBE_AGAIN_MS, () => void attempt());
      }
    };
    await attempt();
    return async () => {
      isOver = true;
      cancel();
      try {
        await end?.();
      } catch (error) {
        onError({ operation: 'subscribe', requestId: '', error });
      }
    };
  };

  return {
    async start() {
      if (worker.running()) return;
      admissionControl.open();
      worker.start();
      const stopped = services.jobWatch.workerStarted();
      for (const periodicTask of parts.periodicTasks)
        if (periodicTask.atStart === true) runChore(periodicTask);
      endings = parts.periodicTasks.map((periodicTask) =>
        repeating(clock, periodicTask.everyMs, () => runInTurn(periodicTask)),
      );
      endings.push(stopped, services.jobSlots.offer(worker.acquire));
      endings.push(...(await Promise.all(parts.subscriptions.map(listen))));
    },
    async drain(timeoutMs) {
      admissionControl.close();
      await worker.drain(timeoutMs);
      const ending = endings;
      endings = [];
      await Promise.all(ending.map((end) => end()));
      if (running.size() > 0) await untilChoresEnd();
      parts.onDrained();
    },
  };
}
