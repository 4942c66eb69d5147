import type { Clock } from '../ports/clock.ts';
import { defineCollection, type Store, type StoredRecord } from '../ports/store.ts';

/** The next turn of a periodic task. Its id is the name of the task. */
export interface TaskTurnRecord extends StoredRecord {
  /** Epoch milliseconds. No process runs the task before. */
  readonly nextRunAt: number;
  /** Where an unfinished task continues. */
  readonly position?: string | undefined;
}

export const TASK_TURNS = defineCollection<TaskTurnRecord>({
  name: 'periodic_tasks',
  columns: { nextRunAt: 'integer' },
  unique: [],
  indexes: [],
});

/** Timers of one process are not exact: the next turn begins a little before its next tick. */
const SHARE = 0.9;

/** Distributes the runs of periodic tasks over the processes that share a store. */
export interface TaskTurns {
  /** @returns true for exactly one of all processes in each period of the task. */
  take(task: { readonly name: string; readonly everyMs: number }): Promise<boolean>;
}

export function createTaskTurns({
  store,
  clock,
}: {
  readonly store: Store;
  readonly clock: Clock;
}): TaskTurns {
  const turns = store.collection(TASK_TURNS);
  return {
    async take({ name: id, everyMs }) {
      const now = clock.now();
      const nextRunAt = now + Math.floor(everyMs * SHARE);
      const turn = await turns.get(id);
      if (turn === undefined) return turns.insert({ id, nextRunAt });
      // A turn beyond the period comes from a clock that was wrong.
      if (turn.nextRunAt > now && turn.nextRunAt <= now + everyMs) return false;
      return (await turns.update(id, { nextRunAt }, { nextRunAt: turn.nextRunAt })) !== undefined;
    },
  };
}
