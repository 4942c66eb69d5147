import { isJobInterrupted } from '../jobs/interruption.ts';
import type { QuestProgress, QuestRecord } from './records.ts';
import { type Holder, isHeldBy } from './states.ts';

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
  /** Returns the progress of a quest whose worker is in this process. */
  read(quest: QuestRecord): QuestProgress | undefined;
}

export interface RunningQuest {
  readonly signal: AbortSignal;
  /** Undefined if the run was not interrupted. */
  interruption(): Interruption | undefined;
  /** Called when the store rejects a write of this worker. */
  stop(): void;
  /** Shows the progress of the run while its holder may write, or has to close the quest. */
  show(holder: Holder, read: () => QuestProgress): void;
  remove(): void;
}

export function createRunningQuests(): RunningQuests {
  const running = new Map<string, Set<RunningQuest>>();
  const shown = new Map<RunningQuest, { readonly holder: Holder; readonly read: () => QuestProgress }>();
  return {
    enter(questId, signal) {
      const control = new AbortController();
      const pass = (): void => control.abort(signal.reason);
      if (signal.aborted) pass();
      else signal.addEventListener('abort', pass, { once: true });
      const entry: RunningQuest = {
        signal: control.signal,
        interruption() {
          if (!control.signal.aborted) return undefined;
          const reason: unknown = control.signal.reason;
          return isJobInterrupted(reason) ? reason.reason : 'stopped';
        },
        stop: () => control.abort(new QuestStopped('the quest was stopped')),
        show: (holder, read) => void shown.set(entry, { holder, read }),
        remove() {
          shown.delete(entry);
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
    read(quest) {
      for (const entry of running.get(quest.id) ?? []) {
        const run = shown.get(entry);
        if (run !== undefined && isHeldBy(quest, run.holder)) return run.read();
      }
      return undefined;
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
