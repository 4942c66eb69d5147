import { isJobInterrupted } from '../engine/worker.ts';

/** Why work on a quest was broken off: it was stopped from outside, or the engine wants its worker back. */
export type BreakOff = 'stopped' | 'lease-lost' | 'stopping';

class QuestStopped extends Error {
  override readonly name = 'QuestStopped';
}

/** What runs in this process, so that a word from outside reaches it. */
export interface RunningQuests {
  /** @param interruption the job's own signal. */
  enter(questId: string, interruption: AbortSignal): RunningQuest;
  /** Breaks off the work on a quest, if it is done here. */
  stop(questId: string): void;
}

export interface RunningQuest {
  readonly signal: AbortSignal;
  /** Undefined while nothing was broken off. */
  readonly brokenOff: BreakOff | undefined;
  /** The store says that this worker may write no more. */
  stop(): void;
  leave(): void;
}

export function createRunningQuests(): RunningQuests {
  const running = new Map<string, Set<RunningQuest>>();
  return {
    enter(questId, interruption) {
      const control = new AbortController();
      const pass = (): void => control.abort(interruption.reason);
      if (interruption.aborted) pass();
      else interruption.addEventListener('abort', pass, { once: true });
      const entry: RunningQuest = {
        signal: control.signal,
        get brokenOff() {
          if (!control.signal.aborted) return undefined;
          const reason: unknown = control.signal.reason;
          return isJobInterrupted(reason) ? reason.reason : 'stopped';
        },
        stop: () => control.abort(new QuestStopped('the quest was stopped')),
        leave() {
          interruption.removeEventListener('abort', pass);
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
