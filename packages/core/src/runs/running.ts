import { isJobInterrupted } from '../jobs/interruption.ts';

/** The reason of an interruption: the quest was stopped, the lease was lost, or the worker is stopping. */
export type Interruption = 'stopped' | 'lease-lost' | 'stopping';

class QuestStopped extends Error {
  override readonly name = 'QuestStopped';
}

/** Tracks the running quests of this process, so that they can be stopped. */
export interface RunningQuests {
  /** @param signal the signal of the job. */
  enter(questId: string, signal: AbortSignal): RunningQuest;
  /** Interrupts a quest if it runs in this process. */
  stop(questId: string): void;
}

export interface RunningQuest {
  readonly signal: AbortSignal;
  /** Undefined if the run was not interrupted. */
  readonly interruption: Interruption | undefined;
  /** Called when the store rejects a write of this worker. */
  stop(): void;
  remove(): void;
}

export function createRunningQuests(): RunningQuests {
  const running = new Map<string, Set<RunningQuest>>();
  return {
    enter(questId, signal) {
      const control = new AbortController();
      const pass = (): void => control.abort(signal.reason);
      if (signal.aborted) pass();
      else signal.addEventListener('abort', pass, { once: true });
      const entry: RunningQuest = {
        signal: control.signal,
        get interruption() {
          if (!control.signal.aborted) return undefined;
          const reason: unknown = control.signal.reason;
          return isJobInterrupted(reason) ? reason.reason : 'stopped';
        },
        stop: () => control.abort(new QuestStopped('the quest was stopped')),
        remove() {
          signal.removeEventListener('abort', pass);
          here.delete(entry);
          if (here.size === 0 && running.get(questId) === here) running.delete(questId);
        },
      };
      const here = running.get(questId) ?? new Set();
      running.set(questId, here.add(entry));
      return entry;
    },
    stop(questId) {
      for (const entry of running.get(questId) ?? []) entry.stop();
    },
  };
}

/** A signal that is aborted when the worker must stop, not when a client stops the quest. */
export function untilInterrupted(signal: AbortSignal): AbortSignal {
  const control = new AbortController();
  const pass = (): void => {
    if (isJobInterrupted(signal.reason)) control.abort(signal.reason);
  };
  if (signal.aborted) pass();
  else signal.addEventListener('abort', pass, { once: true });
  return control.signal;
}
