import type { Incident } from '../incident.ts';
import type { Observer } from '../observing/observer.ts';
import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Intake } from './intake.ts';
import { createWorker, type JobHandler, repeating, type WorkerSettings } from './worker.ts';

/** Something small done again and again while the engine runs, safe in any number of processes at once. */
export interface Chore {
  readonly name: string;
  readonly everyMs: number;
  /** Done when the engine starts, too. */
  readonly atStart?: boolean;
  run(): Promise<unknown>;
}

/** The part of the service that works without being asked. */
export interface EngineParts {
  readonly handlers: readonly JobHandler[];
  readonly chores: readonly Chore[];
  /** Starts to listen, and says how to stop. */
  readonly subscriptions: readonly (() => Promise<() => Promise<void>>)[];
  /** Nothing runs here any more. */
  onDrained(): void;
}

export interface EngineServices {
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly intake: Intake;
  readonly worker: WorkerSettings;
  readonly observer?: Observer;
  readonly onError: (incident: Incident) => void;
}

/** A subscription that was refused is tried again so often. Without it, work goes on and finds out for itself, later. */
const SUBSCRIBE_AGAIN_MS = 60_000;

/** Runs accepted work. Nothing happens before `start`; the process that answers requests need not be the one that works. */
export interface Engine {
  start(): Promise<void>;
  /** Refuses new work at once, and resolves when all of this process's work has ended or gone back to the queue. */
  drain(timeoutMs: number): Promise<void>;
}

export function createEngine(services: EngineServices, parts: EngineParts): Engine {
  const { queue, clock, intake, onError } = services;
  const worker = createWorker({
    queue,
    clock,
    handlers: parts.handlers,
    settings: services.worker,
    observer: services.observer,
    onError,
  });
  let endings: (() => void | Promise<void>)[] = [];

  const runChore = async (chore: Chore): Promise<void> => {
    try {
      await chore.run();
    } catch (error) {
      onError({ operation: `chore:${chore.name}`, requestId: '', error });
    }
  };

  /** @returns ends it, once it has been tried for the first time. */
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
      if (worker.running) return;
      intake.open();
      worker.start();
      for (const chore of parts.chores) if (chore.atStart === true) void runChore(chore);
      endings = parts.chores.map((chore) => repeating(clock, chore.everyMs, () => void runChore(chore)));
      endings.push(...(await Promise.all(parts.subscriptions.map(listen))));
    },
    async drain(timeoutMs) {
      intake.close();
      await worker.drain(timeoutMs);
      const ending = endings;
      endings = [];
      await Promise.all(ending.map((end) => end()));
      parts.onDrained();
    },
  };
}
