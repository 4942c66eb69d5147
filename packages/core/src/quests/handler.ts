import type { JobHandler, RunAgain } from '../engine/worker.ts';
import { isApiError } from '../errors.ts';
import type { JobQueue, LeasedJob, NewJob } from '../ports/queue.ts';
import { isStorageUnavailable, type Json, type Store } from '../ports/store.ts';
import { createDesk, type Desk, type DeskServices } from './desk.ts';
import { clearLeftovers } from './leftovers.ts';
import type { QuestNotices } from './notices.ts';
import { outcomeOf, VANISHED } from './outcomes.ts';
import { QUESTS, type QuestOutcome, type QuestProgress, type QuestRecord } from './records.ts';
import type { RunningQuests } from './running.ts';
import { abandonQuest, claimQuest, closeStopped, endQuest, hasContent } from './transitions.ts';

/** A worker that vanished gets one more try, if it has left nothing. */
const MOST_RUNS = 2;

export interface QuestHandlerServices extends DeskServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly notices: QuestNotices;
}

/** One kind of quest. */
export interface QuestTask {
  readonly kind: string;
  /** The operation that asks for it: what charges and incidents name. */
  readonly operation: string;
  readonly concurrency: number;
  /** Phases that are always told. */
  readonly phases: readonly string[];
  /**
   * Does the work at its desk, and says how it ended. Rejects with an `ApiError` to fail in words for callers, with
   * `QuestAbandoned` when what the quest was for is gone. Stops when the desk's signal is aborted.
   */
  work(desk: Desk, payload: Readonly<Record<string, Json | undefined>>): Promise<QuestOutcome>;
  /**
   * How a quest ends that a crash or a restart broke off after its beginning. Default: what there is stands; without
   * anything it has failed.
   */
  readonly unfinished?: QuestOutcome;
  /** Written together with the quest's end. May run more than once. */
  alongside(store: Store, quest: QuestRecord): Promise<void>;
  /** Quests that follow from this one's end, e.g. to remember something of it. */
  readonly followUps?: readonly FollowUp[];
  /** Told once the end is written down. */
  ended?(quest: QuestRecord): void;
}

/**
 * Looks at a quest that has ended, in the transaction of its end: what is to be done next, as a quest with an id and money
 * of its own. May run more than once.
 */
export type FollowUp = (store: Store, quest: QuestRecord) => Promise<QuestRecord | undefined> | undefined;

/** What the quest was for is gone. */
export class QuestAbandoned extends Error {
  override readonly name = 'QuestAbandoned';
}

/** A quest's job. @param more what the worker needs and the quest must not keep. */
export function questJob(
  { id, kind }: Pick<QuestRecord, 'id' | 'kind'>,
  more: Readonly<Record<string, Json | undefined>> = {},
): NewJob {
  return { kind, key: id, payload: { questId: id, ...more } };
}

/** Runs quests of one kind: takes them over, brings each to exactly one end, and pays once for what was made. */
export function createQuestHandler(
  services: QuestHandlerServices,
  runningQuests: RunningQuests,
  task: QuestTask,
): JobHandler {
  const { store, clock, notices } = services;
  const quests = store.collection(QUESTS);
  const unfinished = (hasMade: boolean): QuestOutcome =>
    task.unfinished ?? (hasMade ? { type: 'message' } : VANISHED);

  const run = async (job: LeasedJob, interruption: AbortSignal): Promise<RunAgain | undefined> => {
    const payload = job.payload as { readonly questId: string } & Readonly<Record<string, Json>>;
    const quest = await claimQuest(quests, payload.questId, job, clock.now());
    if (quest === undefined) return stopped(payload.questId, job);
    if (hasRun(quest, job)) await clearLeftovers(services, quest, task.operation);
    if (hasBegun(quest) || job.attempt > MOST_RUNS) return recover(quest, job);
    const running = runningQuests.enter(quest.id, interruption);
    const desk = createDesk(services, quests, quest, job, running, task);
    try {
      let outcome: QuestOutcome;
      try {
        outcome = await task.work(desk, payload);
      } catch (error) {
        return await brokenOff(desk, running.brokenOff, error);
      }
      // A failure from here on is not the quest's: the job is tried again, and finds what was written down.
      return await conclude(desk, outcome, true);
    } finally {
      running.leave();
      await desk.journal.close();
    }
  };

  /** Ends the quest, after everything it owes is settled. */
  const conclude = async (desk: Desk, outcome: QuestOutcome, finished: boolean): Promise<undefined> => {
    desk.watch.phase('store');
    await desk.callEnded(finished, true);
    if (!(await desk.settle(outcome))) return mayWriteNoMore(desk);
    await desk.journal.close();
    await end(desk.quest.id, desk.job, { ...outcome, ...desk.progress(), phases: desk.watch.read() });
    return undefined;
  };

  const brokenOff = async (
    desk: Desk,
    reason: 'stopped' | 'lease-lost' | 'stopping' | undefined,
    error: unknown,
  ): Promise<RunAgain | undefined> => {
    switch (reason) {
      case 'lease-lost':
        desk.leaveCall();
        return undefined;
      case 'stopped':
        return mayWriteNoMore(desk);
      case 'stopping': {
        const { hasMade } = desk;
        if (!hasMade && !desk.hasDue) {
          await desk.releaseCall();
          return { afterMs: 0, countAttempt: false };
        }
        return conclude(desk, unfinished(hasMade), false);
      }
      case undefined:
        return fail(desk, error);
    }
  };

  const fail = async (desk: Desk, error: unknown): Promise<undefined> => {
    if (error instanceof QuestAbandoned) {
      await desk.callEnded(false, true);
      await desk.settleAtOnce();
      const { id } = desk.quest;
      const stopped = await abandonQuest(quests, id, desk.job, error.message, clock.now());
      if (stopped !== undefined) notices.ended(id);
      return undefined;
    }
    if (isStorageUnavailable(error) && !desk.hasMade && !desk.hasDue) {
      await desk.releaseCall();
      throw error;
    }
    if (!isApiError(error)) services.onError({ operation: `job:${task.kind}`, requestId: '', error });
    return conclude(desk, outcomeOf(error), false);
  };

  /** Either the quest was stopped, and what was made is paid for, or it is in newer hands, and so is its money. */
  const mayWriteNoMore = async (desk: Desk): Promise<undefined> => {
    const quest = await quests.get(desk.quest.id);
    if (quest !== undefined && quest.status !== 'stopped') {
      desk.leaveCall();
      return undefined;
    }
    await desk.callEnded(false, true);
    await desk.settleAtOnce();
    return putAway(desk.quest.id, desk.progress());
  };

  /** The worker before this one has vanished. What it left decides; a model is not asked again. */
  const recover = async (quest: QuestRecord, job: LeasedJob): Promise<undefined> => {
    await end(quest.id, job, quest.notes?.outcome ?? unfinished(hasContent(quest)));
    return undefined;
  };

  /** A quest that was stopped before its work began, or while its worker vanished. */
  const stopped = async (questId: string, job: LeasedJob): Promise<undefined> => {
    const quest = await quests.get(questId, { status: 'stopped' });
    if (quest === undefined) return undefined;
    if (hasRun(quest, job)) await clearLeftovers(services, quest, task.operation);
    return putAway(questId, {});
  };

  const putAway = (questId: string, progress: QuestProgress): Promise<undefined> =>
    store.transaction(async (transaction) => {
      const quest = await closeStopped(transaction.collection(QUESTS), questId);
      if (quest !== undefined) await task.alongside(transaction, { ...quest, ...progress });
      return undefined;
    });

  const end = async (
    questId: string,
    job: LeasedJob,
    outcome: QuestOutcome & QuestProgress,
  ): Promise<void> => {
    const { ended, following } = await store.transaction(async (transaction) => {
      const quest = await endQuest(transaction.collection(QUESTS), questId, job, outcome, clock.now());
      if (quest === undefined) return { ended: undefined, following: [] };
      await task.alongside(transaction, quest);
      return { ended: quest, following: await follow(transaction, quest) };
    });
    if (ended === undefined) return;
    notices.ended(questId);
    task.ended?.(ended);
    for (const quest of following) {
      // The sweep finds those that could not be queued.
      await services.queue.enqueue(questJob(quest)).catch((error: unknown) => {
        services.onError({ operation: `job:${quest.kind}`, requestId: '', error });
      });
    }
  };

  const follow = async (transaction: Store, quest: QuestRecord): Promise<readonly QuestRecord[]> => {
    const following: QuestRecord[] = [];
    for (const followUp of task.followUps ?? []) {
      const next = await followUp(transaction, quest);
      if (next !== undefined && (await transaction.collection(QUESTS).insert(next))) following.push(next);
    }
    return following;
  };

  return { kind: task.kind, concurrency: task.concurrency, run };
}

/** Whether somebody may have worked on it before. A job that got lost and was made anew begins with the first fence again. */
function hasRun({ notes }: QuestRecord, { fence }: LeasedJob): boolean {
  return fence > 1 || notes !== undefined;
}

/** Whether a worker has left more than an unanswered call: then nobody else begins anew. */
function hasBegun(quest: QuestRecord): boolean {
  const { due = [], outcome } = quest.notes ?? {};
  return due.length > 0 || outcome !== undefined || hasContent(quest);
}
