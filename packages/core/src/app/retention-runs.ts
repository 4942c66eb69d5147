import { TASK_TURNS } from '../jobs/task-turns.ts';
import type { Clock } from '../ports/clock.ts';
import type { Store } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';

const HOUR_MS = 3_600_000;
const UNBOUNDED = Number.POSITIVE_INFINITY;

/** Records of one step: short enough that no statement holds others up. */
export const BATCH = 500;

/** Maximum work of one run, for each kind. */
export interface RetentionBudget {
  /** Records that are deleted one by one. */
  readonly removals: number;
  /** Records that are deleted in batches. */
  readonly records: number;
  /** Sessions, owners or records that are looked at. */
  readonly looks: number;
}

export const NO_BUDGET: RetentionBudget = { removals: UNBOUNDED, records: UNBOUNDED, looks: UNBOUNDED };

export interface RetentionRunServices {
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (incident: Incident) => void;
}

/** Where the next run continues, for all processes. @param name of the runs. */
export async function openProgress(
  { store, clock }: Pick<RetentionRunServices, 'store' | 'clock'>,
  name: string,
) {
  const turns = store.collection(TASK_TURNS);
  const id = `sweep-retention:${name}`;
  const stored = await turns.get(id);
  const now = clock.now();
  return {
    position: stored?.position,
    // A time beyond the rest comes from a clock that was wrong.
    isResting: stored !== undefined && stored.nextRunAt > now && stored.nextRunAt <= now + HOUR_MS,
    /** @param isComplete the run has reached the end: the next ones rest for an hour. */
    async save(position: string | undefined, isComplete: boolean): Promise<void> {
      const next = { nextRunAt: isComplete ? now + HOUR_MS : 0, position };
      if ((await turns.update(id, next)) !== undefined) return;
      await turns.insert({ id, ...next });
    },
  };
}
