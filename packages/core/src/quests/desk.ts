import type { ReservationServices } from '../credits/reservations.ts';
import { isApiError } from '../errors.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { GenerateRequest } from '../ports/models.ts';
import type { LeasedJob } from '../ports/queue.ts';
import { type Collection, isStorageUnavailable } from '../ports/store.ts';
import type { Switches } from '../settings/admin.ts';
import { type DueCharge, promptMetaOf, settleDue } from './charges.ts';
import {
  intentionOf,
  isFirst,
  type OpenStepNote,
  type PaidStep,
  releaseIntended,
  type StepTerms,
} from './holds.ts';
import { createJournal, type Journal } from './journal.ts';
import { openModelCall, type PaidCall } from './model-call.ts';
import { openPricedWork, type PricedWork } from './priced-work.ts';
import type { QuestOutcome, QuestProgress, QuestRecord } from './records.ts';
import type { RunningQuest } from './running.ts';
import { createStopwatch, type Stopwatch } from './stopwatch.ts';
import { hasContent } from './transitions.ts';

export interface DeskServices extends ReservationServices {
  readonly switches: Switches;
}

/** Where one worker does one quest: what it has made, what it owes, and how long it took. */
export interface Desk {
  readonly quest: QuestRecord;
  readonly job: LeasedJob;
  /** The operation that asked for it: what charges and incidents name. */
  readonly operation: string;
  readonly signal: AbortSignal;
  readonly journal: Journal;
  readonly watch: Stopwatch;
  /** More to be shown with the quest, written with whatever is written next. */
  tell(more: QuestProgress): void;
  /** Holds what a model call may cost. Several may be under way. */
  pay(entry: CatalogueEntry, request: GenerateRequest): Promise<PaidCall>;
  /** Holds what work with a price by the piece may cost, in whole micro-credits. */
  payPrice(entry: CatalogueEntry, amount: number): Promise<PricedWork>;
  /** A step is over. What it came to is written down, so that nobody asks again, and settled; free when nothing came out. */
  stepEnded(step: PaidStep, finished: boolean): Promise<void>;
  /**
   * So are all that are under way.
   * @param isLast the quest is about to end: what is due is settled by `settle`.
   */
  callEnded(finished: boolean, isLast: boolean): Promise<void>;
  /**
   * Settles what is due, after it was written down that it is. @returns false when this worker may write no more;
   * then nothing was settled.
   */
  settle(outcome: QuestOutcome): Promise<boolean>;
  /** Settles what is due, of a quest that nobody will run again. */
  settleAtOnce(): Promise<void>;
  /** What is under way came to nothing, and its holds are given back. */
  releaseCall(): Promise<void>;
  /** Leaves what is held to whoever has the quest now. */
  leaveCall(): void;
  readonly hasDue: boolean;
  /** Whether there is anything to show. */
  readonly hasMade: boolean;
  /** All of it, for the quest's record. */
  progress(): QuestProgress;
}

export function createDesk(
  services: DeskServices,
  quests: Collection<QuestRecord>,
  quest: QuestRecord,
  job: LeasedJob,
  running: RunningQuest,
  { operation, phases }: { readonly operation: string; readonly phases: readonly string[] },
): Desk {
  const { ledger, clock, switches } = services;
  const watch = createStopwatch(clock, phases);
  const due: DueCharge[] = [];
  let told: QuestProgress = {};
  const open = new Set<PaidStep>();
  /** Steps whose hold is being taken, or may have been: the ledger did not answer. */
  const intended = new Set<OpenStepNote>();
  let steps = 0;
  let model: string | undefined;

  const journal = createJournal(
    {
      quests,
      clock,
      steps: () => [...intended, ...[...open].map(({ note }) => note)],
      onError: (error) => services.onError({ operation: `job:${job.kind}`, requestId: '', error }),
    },
    quest,
    job,
    () => running.stop(),
  );

  const progress = (): QuestProgress => {
    const meta = promptMetaOf(model, due);
    const { text, toolPayloads } = journal;
    return {
      ...told,
      text,
      ...(toolPayloads.length > 0 && { toolPayloads: [...toolPayloads] }),
      ...(meta !== undefined && { promptMeta: meta }),
    };
  };

  /** @returns false when it had been put down before. */
  const putDown = (step: PaidStep): boolean => {
    step.close();
    return open.delete(step);
  };

  const endStep = async (step: PaidStep, finished: boolean, isLast: boolean): Promise<void> => {
    if (!putDown(step)) return;
    if (!finished && !step.produced) return step.release();
    const charge = step.due(finished);
    due.push(charge);
    if (isLast) return;
    if (await journal.save({ ...progress(), notes: { due: [...due] } })) await settleDue(ledger, [charge]);
    else running.signal.throwIfAborted();
  };

  const nextStep = async ({ info }: CatalogueEntry): Promise<StepTerms> => {
    const current = switches.current();
    const { enforceCredits } = current instanceof Promise ? await current : current;
    const number = steps;
    steps += 1;
    const { payer, requestId } = quest.request;
    const who = { questId: quest.id, job, number, payer, operation, requestId };
    return { ...who, model: info.id, metered: enforceCredits };
  };

  const begin = async <S extends PaidStep>(
    entry: CatalogueEntry,
    hold: (terms: StepTerms) => Promise<S>,
  ): Promise<S> => {
    const terms = await nextStep(entry);
    const take = async (): Promise<S> => {
      const step = await hold(terms);
      open.add(step);
      return step;
    };
    const step = terms.metered ? await intending(terms, take) : await take();
    const { release } = step;
    model = terms.model;
    return Object.assign(step, {
      async release() {
        putDown(step);
        await release();
      },
    });
  };

  /** The step stands among the intended until it stands among the open, so that nothing is written without it. */
  const intending = async <S>(terms: StepTerms, take: () => Promise<S>): Promise<S> => {
    const intention = intentionOf(terms);
    let isDoubtful = false;
    intended.add(intention);
    try {
      // Nobody could give a hold back that nobody knows of.
      if (!isFirst(terms) && !(await journal.save())) running.signal.throwIfAborted();
      isDoubtful = true;
      const step = await take();
      isDoubtful = false;
      return step;
    } catch (error) {
      if (isApiError(error)) isDoubtful = false;
      throw error;
    } finally {
      if (!isDoubtful) intended.delete(intention);
    }
  };

  const releaseDoubtful = async (): Promise<void> => {
    for (const intention of intended) {
      await releaseIntended(services, intention).catch((error: unknown) => {
        // A storage that is away is tried again with the job; what fails for another reason lapses by itself.
        if (isStorageUnavailable(error)) throw error;
        services.onError({ operation, requestId: quest.request.requestId, error });
      });
    }
  };

  return {
    quest,
    job,
    operation,
    signal: running.signal,
    journal,
    watch,
    tell(more) {
      told = { ...told, ...more };
    },

    pay: (entry, request) => begin(entry, (terms) => openModelCall(services, terms, entry, request)),
    payPrice: (entry, amount) => begin(entry, (terms) => openPricedWork(services, terms, amount)),

    stepEnded: (step, finished) => endStep(step, finished, false),
    async callEnded(finished, isLast) {
      for (const step of [...open]) await endStep(step, finished, isLast);
    },

    async settle(outcome) {
      // What costs nothing needs no care: it may be done and written down twice.
      const needsCare = due.some(({ hold }) => hold !== undefined);
      if (needsCare && !(await journal.save({ ...progress(), notes: { due, outcome } }))) return false;
      await settleDue(ledger, due);
      await releaseDoubtful();
      return true;
    },
    async settleAtOnce() {
      await settleDue(ledger, due);
      await releaseDoubtful();
    },

    async releaseCall() {
      for (const step of [...open]) await step.release();
    },
    leaveCall() {
      for (const step of [...open]) putDown(step);
    },
    get hasDue() {
      return due.length > 0;
    },
    get hasMade() {
      return hasContent(progress());
    },
    progress,
  };
}
