import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { StoreWrite } from '../ports/write-all.ts';
import type { QuestTask } from './quest-task.ts';
import type { QuestOutcome, QuestProgress, QuestRecord } from './records.ts';
import type { RunContext } from './run-context.ts';
import { writeEnd } from './transitions.ts';

/** A quest that has ended, and whether its job is completed too. */
export interface EndedInOneStep {
  readonly quest: QuestRecord;
  readonly isFinished: boolean;
}

/**
 * Ends a quest, stores what its work has planned, settles its charge, writes its last events and completes its job, where the queue can,
 * in one step. @param more the settlement and the events.
 * @returns the quest; undefined, with nothing written, where that is not possible: then a transaction decides.
 */
export async function endInOneStep(
  { store, queue, clock }: { readonly store: Store; readonly queue: JobQueue; readonly clock: Clock },
  { followUps = [] }: Pick<QuestTask, 'followUps'>,
  run: RunContext,
  outcome: QuestOutcome & QuestProgress,
  more: readonly StoreWrite[],
): Promise<EndedInOneStep | undefined> {
  const { write, ended } = writeEnd(run.quest, run.job, outcome, clock.now());
  if (followUps.some((followUp) => followUp.applies(ended))) return undefined;
  const planned = run.getPlannedEnd(ended);
  if (planned === undefined) return undefined;
  const { expected, written } = planned;
  const finish = queue.writes === undefined ? [] : [queue.writes.finish(run.lease)];
  const removed = run.writer.removals();
  const isDone = await store.writeAll?.([...expected, write, ...removed, ...written, ...more, ...finish]);
  return isDone === true ? { quest: ended, isFinished: finish.length > 0 } : undefined;
}
