import type { CallEnd } from '../credits/usage.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { GenerateRequest } from '../ports/models.ts';
import type { LeasedJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { StoreWrite } from '../ports/write-all.ts';
import { createRunCharges, type PendingCharge } from './charges.ts';
import type { PaidStep } from './holds.ts';
import type { LiveFollowers } from './live-followers.ts';
import { createLiveWriter, type LiveWriter, type LiveWriterServices, NO_LIVE_WRITER } from './live-writer.ts';
import type { PaidCall } from './model-call.ts';
import { createPaidSteps, type PaidStepServices } from './paid-steps.ts';
import type { PricedWork } from './priced-work.ts';
import { createProgressWriter, type ProgressWriter } from './progress-writer.ts';
import { QUESTS, type QuestOutcome, type QuestProgress, type QuestRecord } from './records.ts';
import type { RunningQuest } from './running.ts';
import { hasContent } from './states.ts';
import { createStopwatch, type Stopwatch } from './stopwatch.ts';
import { getFence, saveStopped } from './transitions.ts';

/** Writes that are made in one step with the end of a quest. If one has no effect, `alongside` decides in a transaction. */
export interface PlannedEnd {
  readonly expected: readonly StoreWrite[];
  readonly written: readonly StoreWrite[];
}

/** @param quest as it ends. @returns undefined if the end needs a transaction. */
export type PlanEnd = (quest: QuestRecord) => PlannedEnd | undefined;

export interface RunServices extends PaidStepServices, LiveWriterServices {
  readonly store: Store;
  readonly liveFollowers: LiveFollowers;
}

/** The context of one run of a quest: its output, charges and timings. */
export interface RunContext {
  readonly quest: QuestRecord;
  /** The job, with its fence among all jobs of the quest. */
  readonly job: LeasedJob;
  /** The job as the queue leased it. */
  readonly lease: LeasedJob;
  /** The operation id, for charges and incidents. */
  readonly operation: string;
  readonly signal: AbortSignal;
  readonly writer: ProgressWriter;
  /** Writes the events of the run for readers. */
  readonly live: LiveWriter;
  readonly stopwatch: Stopwatch;
  /** Adds fields to the quest; saved with the next write. */
  update(more: QuestProgress): void;
  /** Plans the writes of the quest's end, in place of `alongside`. The last plan counts. */
  planEnd(plan: PlanEnd): void;
  /** @returns undefined without a plan. */
  getPlannedEnd(quest: QuestRecord): PlannedEnd | undefined;
  /** Holds the maximum cost of a model call. Several calls may run at the same time. */
  pay(entry: CatalogueEntry, request: GenerateRequest): Promise<PaidCall>;
  /** Holds the maximum cost of unit-priced work, in micro-credits. */
  payPrice(entry: CatalogueEntry, amount: number): Promise<PricedWork>;
  /**
   * Closes a step: stores its charge, so that recovery does not repeat the call, and settles it. Free without output.
   */
  endStep(step: PaidStep, end: CallEnd): Promise<void>;
  /** Closes all running steps, because the quest is ending; `settle` settles their charges. */
  endSteps(end: CallEnd): Promise<void>;
  /**
   * Stores and then settles pending charges. @param outcome absent: another end may follow.
   * @returns false if this worker may no longer write; then nothing was settled.
   */
  settle(outcome?: QuestOutcome): Promise<boolean>;
  /**
   * Returns the settlement of pending charges as writes, for the quest's end in one step. Undefined: `settle` must come
   * before.
   */
  getSettlement(): readonly StoreWrite[] | undefined;
  /** Stores and then settles pending charges of a quest that was stopped, even if another worker has closed it. */
  settleStopped(): Promise<void>;
  /** Releases the holds of all running steps. */
  releaseSteps(): Promise<void>;
  /** Stops renewing the holds and leaves them to the worker that owns the quest now. */
  abandonSteps(): void;
  hasCharges(): boolean;
  /** Whether there is any output, or, after a wait, the work has gone on. */
  hasOutput(): boolean;
  /** Leaves the wait: from now on a crash ends the quest, so that no decided call runs twice. */
  leaveWait(): Promise<void>;
  /** The charges of the quest: those from before a wait, and those of this run. */
  getAllCharges(): readonly PendingCharge[];
  /** Returns the complete result for the quest's record. */
  progress(): QuestProgress;
  /** Stops all writes of the run, and waits for the current ones. */
  close(): Promise<void>;
}

export function createRunContext(
  services: RunServices,
  quest: QuestRecord,
  lease: LeasedJob,
  running: RunningQuest,
  task: {
    readonly operation: string;
    readonly phases: readonly string[];
    readonly isLive?: boolean | 'parts';
  },
): RunContext {
  const { signal } = running;
  const { wait, resumed = 0, paid = [] } = quest;
  const job = { ...lease, fence: getFence(lease.fence, resumed) };
  let isWaiting = wait !== undefined;
  const { operation, phases } = task;
  const onError = (error: unknown): void =>
    services.onError({ operation: `job:${job.kind}`, requestId: '', error });
  const stopwatch = createStopwatch(services.clock, phases, quest.phases);
  const charges = createRunCharges(services.ledger, paid);
  let extra: QuestProgress = {};
  let plan: PlanEnd | undefined;

  const save = async (): Promise<void> => {
    if (!(await writer.save())) signal.throwIfAborted();
  };
  const steps = createPaidSteps(services, quest, job, operation, save);
  const followers =
    task.isLive === true
      ? services.liveFollowers.enter(quest, lease.fence > 1, () => {
          writer.arm();
          return live.catchUp();
        })
      : services.liveFollowers.enterFixed(task.isLive === 'parts');
  const live: LiveWriter =
    task.isLive === true || task.isLive === 'parts'
      ? createLiveWriter(services, {
          stream: quest.id,
          fence: job.fence,
          after: wait?.lastEvent ?? 0,
          getText: () => writer.text(),
          isFollowed: () => followers.isFollowed(),
          onWaiting: () => writer.arm(),
          isHeld: () => writer.save(),
          onError,
        })
      : NO_LIVE_WRITER;
  const writer: ProgressWriter = createProgressWriter(
    {
      store: services.store,
      clock: services.clock,
      steps: steps.records,
      live: task.isLive === 'parts' ? NO_LIVE_WRITER : live,
      followers,
      onError,
    },
    quest,
    job,
    () => running.stop(),
  );

  running.show(job, () => ({ text: writer.text(), toolPayloads: [...writer.toolPayloads()] }));

  const progress = (): QuestProgress => {
    const meta = charges.describe(steps.model());
    const text = writer.text();
    const toolPayloads = writer.toolPayloads();
    return {
      ...extra,
      text,
      ...(toolPayloads.length > 0 && { toolPayloads: [...toolPayloads] }),
      ...(meta !== undefined && { promptMeta: meta }),
    };
  };

  const emitUsage = (): void => {
    const usage = charges.describe(steps.model());
    if (usage !== undefined) live.emit({ type: 'usage', ...usage });
  };

  /** A free step needs no protection: it may run twice. A settled one is stored. */
  const needsStorage = (): boolean => charges.unsettled().some(({ hold }) => hold !== undefined);

  const settleAll = async (): Promise<void> => {
    await charges.settle();
    await steps.releaseUncertain();
  };

  return {
    quest,
    job,
    lease,
    operation,
    signal,
    writer,
    live,
    stopwatch,
    update(more) {
      extra = { ...extra, ...more };
    },
    planEnd(more) {
      plan = more;
    },
    getPlannedEnd: (ended) => plan?.(ended),
    pay: steps.openModelCall,
    payPrice: steps.openPricedWork,

    async endStep(step, end) {
      const charge = await steps.end(step, end);
      if (charge === undefined) return;
      charges.add(charge);
      emitUsage();
      const isSaved = await writer.save({ ...progress(), notes: { due: [...charges.all] } });
      if (isSaved) await charges.settle([charge]);
      else signal.throwIfAborted();
    },
    async endSteps(end) {
      const before = charges.all.length;
      await steps.endAll(end, charges.add);
      if (charges.all.length > before) emitUsage();
    },

    async settle(outcome) {
      const notes = { due: charges.all, ...(outcome !== undefined && { outcome }) };
      if (needsStorage() && !(await writer.save({ ...progress(), notes }))) return false;
      await settleAll();
      return true;
    },
    async settleStopped() {
      if (needsStorage()) {
        const text = writer.text();
        const notes = { due: charges.all, steps: steps.records() };
        await saveStopped(services.store.collection(QUESTS), quest.id, job, { text, notes });
      }
      await settleAll();
    },
    getSettlement() {
      const unsettled = charges.unsettled();
      const [due] = unsettled;
      if (steps.hasUncertain() || unsettled.length > 1) return undefined;
      if (due === undefined) return [];
      const { hold, amount, usage, details } = due;
      const write = hold && services.ledger.toSettlement?.(hold, amount, usage, details);
      return write && [write];
    },
    releaseSteps: steps.releaseAll,
    abandonSteps: steps.abandonAll,
    hasCharges: () => charges.all.length > 0,
    hasOutput: () => !isWaiting && hasContent(progress()),
    async leaveWait() {
      isWaiting = false;
      if (!(await writer.save({ wait: undefined }))) signal.throwIfAborted();
    },
    getAllCharges: () => [...paid, ...charges.all],
    progress,
    async close() {
      followers.leave();
      await writer.close();
      await live.close();
    },
  };
}
