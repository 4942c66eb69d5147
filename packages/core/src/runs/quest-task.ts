import type { LeasedJob } from '../ports/queue.ts';
import type { Json, Store } from '../ports/store.ts';
import type { StoreRead } from '../ports/write-all.ts';
import type { QuestOutcome, QuestPause, QuestProgress, QuestRecord } from './records.ts';
import type { RunContext } from './run-context.ts';

/** The definition of one kind of quest. */
export interface QuestTask {
  readonly kind: string;
  /** The operation id, for charges and incidents. */
  readonly operation: string;
  readonly concurrency: number;
  /** Phases that are always reported. */
  readonly phases: readonly string[];
  /** Whether readers can follow its events. `parts`: the work emits the parts of its answer itself. */
  readonly isLive?: boolean | 'parts';
  /** What the first run reads first, in one step with its claim. Undefined: nothing that the job names. */
  readonly readFirst?: (lease: LeasedJob) => FirstReads | undefined;
  /**
   * Does the work and returns its outcome, or what it waits for: it then runs again when all calls are decided. Rejects
   * with an `ApiError` to fail with a message for clients, or with `QuestAbandoned` if the target of the quest was deleted.
   * Stops when the signal of the run context is aborted.
   */
  work(
    run: RunContext,
    payload: Readonly<Record<string, Json | undefined>>,
  ): Promise<QuestOutcome | QuestPause>;
  /**
   * The outcome of a quest that a crash or restart interrupted. Default: done with the partial result; failed without
   * one.
   */
  readonly unfinished?: QuestOutcome;
  /**
   * Returns the partial result of a quest whose worker crashed, as far as readers may have seen it. Default: what the
   * worker has saved; readers are corrected.
   */
  readonly restore?: (quest: QuestRecord) => Promise<QuestProgress>;
  /**
   * Writes in the transaction of the quest's end. May run more than once. `planEnd` of the run can make it unnecessary.
   */
  alongside(store: Store, quest: QuestRecord): Promise<void>;
  /** Writes in the transaction in which a quest whose target was deleted is stopped, in place of `alongside`. May run more than once. */
  abandoned?(store: Store, quest: QuestRecord): Promise<void>;
  /** Follow-up quests of this quest, e.g. to extract mementos. */
  readonly followUps?: readonly FollowUp[];
  /** Called after the end is stored. */
  ended?(quest: QuestRecord): void;
}

/** The reads of a first run. */
export interface FirstReads {
  readonly reads: readonly StoreRead[];
  /** Returns the input of the `ClaimedQuest`, after the reads. */
  getInput(): unknown;
}

/**
 * Creates a follow-up quest of a completed quest, in the transaction of its end. The follow-up has its own id and
 * billing. May run more than once.
 */
export interface FollowUp {
  /** Whether the quest may have a follow-up, as far as its record shows. */
  applies(quest: QuestRecord): boolean;
  create(store: Store, quest: QuestRecord): Promise<QuestRecord | undefined>;
}

/** The target of the quest was deleted. */
export class QuestAbandoned extends Error {
  override readonly name = 'QuestAbandoned';
}
