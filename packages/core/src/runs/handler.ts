import type { CallEnd } from '../credits/usage.ts';
import type { JobEnd, JobHandler } from '../jobs/handler.ts';
import type { JobQueue, LeasedJob } from '../ports/queue.ts';
import { isStorageUnavailable, type Json, type Store } from '../ports/store.ts';
import { isApiError } from '../shared/errors.ts';
import { stopAbandoned } from './abandoned.ts';
import type { PendingCharge } from './charges.ts';
import { createClaim } from './claim.ts';
import type { ClaimedQuests } from './claimed-quests.ts';
import { correctEvents } from './correct-events.ts';
import { type EndedInOneStep, endInOneStep } from './end-in-one-step.ts';
import { toOutcome, VANISHED } from './outcomes.ts';
import type { QuestEvents } from './quest-events.ts';
import { questJob } from './quest-job.ts';
import { QuestAbandoned, type QuestTask } from './quest-task.ts';
import {
  QUESTS,
  type QuestOutcome,
  type QuestPause,
  type QuestProgress,
  type QuestRecord,
} from './records.ts';
import { describeCharges, hasBegun, hasRun, recoverPaidSteps } from './recovery.ts';
import { createRunContext, type RunContext, type RunServices } from './run-context.ts';
import type { Interruption, RunningQuests } from './running.ts';
import { hasContent, isTakenOver } from './states.ts';
import { loadText, removeAllPieces } from './text-pieces.ts';
import { closeStopped, endQuest, getFence, pauseQuest } from './transitions.ts';

/** After a crash the quest runs once more, if the worker left no output. */
const MAX_RUNS = 2;
/** Lease in milliseconds for closing a quest whose record is gone. */
const CLOSING_MS = 60_000;

export interface QuestHandlerServices extends RunServices {
  readonly queue: JobQueue;
  readonly questEvents: QuestEvents;
  readonly claimedQuests: ClaimedQuests;
}

/** Runs quests of one kind. Each quest ends exactly once and is charged exactly once. */
export function createQuestHandler(
  services: QuestHandlerServices,
  runningQuests: RunningQuests,
  task: QuestTask,
): JobHandler {
  const { store, clock, questEvents } = services;
  const quests = store.collection(QUESTS);
  const claim = createClaim(services, task);
  const unfinished = (hasOutput: boolean): QuestOutcome =>
    task.unfinished ?? (hasOutput ? { type: 'message' } : VANISHED);

  /** Claims the quest, runs it and concludes it. */
  const handle = async (lease: LeasedJob, signal: AbortSignal): Promise<JobEnd> => {
    const payload = lease.payload as { readonly questId: string } & Readonly<Record<string, Json>>;
    const resumed = typeof payload.resumed === 'number' ? payload.resumed : 0;
    const job = { ...lease, fence: getFence(lease.fence, resumed) };
    const claimed = await claim(payload.questId, lease, job);
    if (claimed === undefined) return closeUnclaimed(payload.questId, lease, resumed);
    const quest = await loadText(store, claimed);
    const charges = hasRun(quest, lease) ? await recoverPaidSteps(services, quest, task.operation) : [];
    if (hasBegun(quest) || lease.attempt > MAX_RUNS) return recover(quest, job, charges);
    const running = runningQuests.enter(quest.id, signal);
    const run = createRunContext(services, quest, lease, running, task);
    try {
      let outcome: QuestOutcome | QuestPause;
      try {
        outcome = await task.work(run, payload);
      } catch (error) {
        return await handleInterruption(run, running.interruption(), error);
      }
      // Later failures do not fail the quest: the job is retried and continues from the stored state.
      return await ('calls' in outcome ? pause(run, outcome) : conclude(run, outcome, 'finished'));
    } finally {
      running.remove();
      await run.close();
    }
  };

  /** Ends the quest after all charges are settled. */
  const conclude = async (run: RunContext, outcome: QuestOutcome, callEnd: CallEnd): Promise<JobEnd> => {
    run.stopwatch.phase('store');
    await run.endSteps(callEnd);
    const settlement = run.getSettlement();
    const canEndAtOnce = services.store.writeAll !== undefined;
    // Nothing else has run the quest and written events of it.
    const isFirst = services.claimedQuests.get(run.lease) !== undefined;
    const taken = canEndAtOnce && settlement !== undefined && isFirst ? run.live.takeAll() : undefined;
    // Readers get all events before they see the end, or with it.
    const flushing = taken === undefined ? run.live.flush() : undefined;
    if (settlement === undefined && !(await run.settle(outcome))) return resolveConflict(run);
    const getResult = () => ({ ...outcome, ...run.progress(), phases: run.stopwatch.read() });
    let ended: EndedInOneStep | undefined;
    try {
      await run.writer.close();
      await flushing;
      if (canEndAtOnce) {
        const more = [...(settlement ?? []), ...(taken === undefined ? [] : [taken.write])];
        ended = await endInOneStep(services, task, run, getResult(), more);
      }
    } finally {
      taken?.end(ended !== undefined);
    }
    if (ended !== undefined) {
      questEvents.ended(ended.quest.id, ended.quest);
      task.ended?.(ended.quest);
      return ended.isFinished ? 'finished' : undefined;
    }
    if (taken !== undefined) await run.live.flush();
    if (settlement !== undefined && !(await run.settle(outcome))) return resolveConflict(run);
    const result = getResult();
    const hasEnded = await end(run.quest.id, run.job, result, run.writer.removals().length > 0);
    return hasEnded ? undefined : resolveConflict(run);
  };

  /** Lets the quest wait. Every round before it is charged, and nothing is held. */
  const pause = async (run: RunContext, { calls, sealedState }: QuestPause): Promise<undefined> => {
    const { quest, job, live } = run;
    run.stopwatch.phase('store');
    if (!(await run.settle())) return resolveConflict(run);
    for (const { id, tool, kind, input } of calls) {
      live.emit({ type: 'approval-requested', id, tool, kind, input });
    }
    await run.writer.close();
    await live.flush();
    const wait = { calls, sealedState, lastEvent: live.last() };
    const paid = run.getAllCharges();
    const state = { ...run.progress(), phases: run.stopwatch.read(), paid, wait };
    const paused = await pauseQuest(quests, quest.id, job, state, clock.now());
    if (paused === undefined) return resolveConflict(run);
    await removePiecesOf(run);
    questEvents.paused(quest.id);
    return undefined;
  };

  const handleInterruption = async (
    run: RunContext,
    reason: Interruption | undefined,
    error: unknown,
  ): Promise<JobEnd> => {
    switch (reason) {
      case 'lease-lost':
        run.abandonSteps();
        // Has an effect only if nothing else has leased the job: then the quest is recovered at once.
        return { afterMs: 0, countAttempt: true };
      case 'stopped':
        return resolveConflict(run);
      case 'stopping': {
        const hasOutput = run.hasOutput();
        if (!hasOutput && !run.hasCharges()) {
          await run.releaseSteps();
          return { afterMs: 0, countAttempt: false };
        }
        return conclude(run, unfinished(hasOutput), 'broken');
      }
      case undefined:
        return fail(run, error);
    }
  };

  const fail = async (run: RunContext, error: unknown): Promise<JobEnd> => {
    if (error instanceof QuestAbandoned) {
      if (await hasLost(run)) return abandon(run);
      await run.endSteps('broken');
      if (!(await run.settle())) return resolveConflict(run);
      // A client may have stopped it meanwhile.
      if (!(await stopAbandoned(services, task, run, error.message))) return resolveConflict(run);
      questEvents.ended(run.quest.id);
      return undefined;
    }
    if (isStorageUnavailable(error) && !run.hasOutput() && !run.hasCharges()) {
      await run.releaseSteps();
      throw error;
    }
    if (!isApiError(error)) services.onError({ operation: `job:${task.kind}`, requestId: '', error });
    return conclude(run, toOutcome(error), 'broken');
  };

  /**
   * Either the quest was stopped, and its output is charged here, or a newer worker owns the quest and its billing.
   */
  const resolveConflict = async (run: RunContext): Promise<undefined> => {
    if (await hasLost(run)) return abandon(run);
    await run.endSteps('left');
    await run.settleStopped();
    if (run.hasOutput()) await run.live.flush();
    await run.writer.close();
    const progress = run.progress();
    if (await closeQuest(run.quest.id, progress, run.writer.removals().length > 0)) return undefined;
    // A worker that got the job closed it, and may not have known all charges.
    const { promptMeta } = progress;
    if (promptMeta !== undefined) await quests.update(run.quest.id, { promptMeta }, { status: 'stopped' });
    return undefined;
  };

  /**
   * Whether another worker owns the quest and its billing, or has ended it. A record that is gone was deleted with its
   * session, or by the worker that ended the quest: then the lease decides.
   */
  const hasLost = async ({ quest: { id }, job, lease }: RunContext): Promise<boolean> => {
    const quest = await quests.get(id);
    if (quest === undefined) return !(await services.queue.renew(lease, CLOSING_MS));
    return quest.status === 'done' || isTakenOver(quest, job);
  };

  /** After the complete text is in the record: a crash before leaves pieces that the text contains. */
  const removePiecesOf = async ({ quest, writer }: RunContext): Promise<void> => {
    if (writer.removals().length > 0) await removeAllPieces(store, quest.id);
  };

  const abandon = (run: RunContext): undefined => {
    run.abandonSteps();
    return undefined;
  };

  /** Recovers a quest of a crashed worker from its stored state. Models are not called again. */
  const recover = async (
    quest: QuestRecord,
    job: LeasedJob,
    charges: readonly PendingCharge[],
  ): Promise<undefined> => {
    const outcome = quest.notes?.outcome ?? unfinished(hasContent(quest));
    const restored = await restore(quest);
    if (task.restore === undefined) await correctEvents(services, task, quest, job);
    const result = { ...outcome, ...restored, ...describeCharges(quest, charges) };
    const hasEnded = await end(quest.id, job, result, true);
    return hasEnded ? undefined : closeUnclaimed(quest.id, job, quest.resumed ?? 0);
  };

  /** The stored text of a crashed worker, and what else readers may have seen. */
  const restore = async (quest: QuestRecord): Promise<QuestProgress> => ({
    ...(quest.text !== undefined && { text: quest.text }),
    ...(quest.output === undefined && (await task.restore?.(quest))),
  });

  /** Ends a quest that was stopped before its work started, while it waited or after its worker crashed. */
  const closeUnclaimed = async (questId: string, lease: LeasedJob, resumed: number): Promise<undefined> => {
    const stopped = await quests.get(questId, { status: 'stopped' });
    // The quest went on: a later job closes it.
    if (stopped === undefined || (stopped.resumed ?? 0) > resumed) return undefined;
    if (!hasRun(stopped, lease)) {
      await closeQuest(questId, {}, false);
      return undefined;
    }
    const quest = await loadText(store, stopped);
    const charges = await recoverPaidSteps(services, quest, task.operation);
    await closeQuest(questId, { ...(await restore(quest)), ...describeCharges(quest, charges) }, true);
    return undefined;
  };

  /** @returns false if another worker has closed it. */
  const closeQuest = (questId: string, progress: QuestProgress, hasPieces: boolean): Promise<boolean> =>
    store.transaction(async (transaction) => {
      const quest = await closeStopped(transaction.collection(QUESTS), questId, progress);
      if (hasPieces) await removeAllPieces(transaction, questId);
      if (quest !== undefined) await task.alongside(transaction, { ...quest, ...progress });
      return quest !== undefined;
    });

  /** @returns false if the quest was stopped or a newer worker owns it. */
  const end = async (
    questId: string,
    job: LeasedJob,
    outcome: QuestOutcome & QuestProgress,
    hasPieces: boolean,
  ): Promise<boolean> => {
    const { ended, following } = await store.transaction(async (transaction) => {
      const quest = await endQuest(transaction.collection(QUESTS), questId, job, outcome, clock.now());
      if (quest === undefined) return { ended: undefined, following: [] };
      if (hasPieces) await removeAllPieces(transaction, questId);
      await task.alongside(transaction, quest);
      return { ended: quest, following: await follow(transaction, quest) };
    });
    if (ended === undefined) return false;
    questEvents.ended(questId, ended);
    task.ended?.(ended);
    for (const quest of following) {
      // The sweep finds quests that could not be enqueued.
      await services.queue.enqueue(questJob(quest)).catch((error: unknown) => {
        services.onError({ operation: `job:${quest.kind}`, requestId: '', error });
      });
    }
    return true;
  };

  const follow = async (transaction: Store, quest: QuestRecord): Promise<readonly QuestRecord[]> => {
    const following: QuestRecord[] = [];
    for (const followUp of task.followUps ?? []) {
      const next = followUp.applies(quest) ? await followUp.create(transaction, quest) : undefined;
      if (next !== undefined && (await transaction.collection(QUESTS).insert(next))) following.push(next);
    }
    return following;
  };

  return { kind: task.kind, concurrency: task.concurrency, run: handle };
}
