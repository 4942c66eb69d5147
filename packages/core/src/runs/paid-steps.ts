import type { ReservationServices } from '../credits/reservations.ts';
import type { CallEnd } from '../credits/usage.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { AdminSettingsReader } from '../operations/admin-settings.ts';
import type { GenerateRequest } from '../ports/models.ts';
import type { LeasedJob } from '../ports/queue.ts';
import { isStorageUnavailable } from '../ports/store.ts';
import { isApiError } from '../shared/errors.ts';
import type { PendingCharge } from './charges.ts';
import {
  createHoldForStep,
  holdIntent,
  isFirst,
  type PaidStep,
  type PaidStepRecord,
  releaseIntended,
  type StepOptions,
} from './holds.ts';
import { createPrepareModelCall, type PaidCall } from './model-call.ts';
import { openPricedWork, type PricedWork } from './priced-work.ts';
import type { QuestRecord } from './records.ts';

export interface PaidStepServices extends ReservationServices {
  readonly adminSettings: AdminSettingsReader;
}

/** The paid steps of one run: each holds its maximum cost before it begins, and ends with a charge or a release. */
export interface PaidSteps {
  /** The model of the last step. */
  model(): string | undefined;
  /** The state that another worker needs to close the running steps. */
  records(): readonly PaidStepRecord[];
  openModelCall(entry: CatalogueEntry, request: GenerateRequest): Promise<PaidCall>;
  openPricedWork(entry: CatalogueEntry, amount: number): Promise<PricedWork>;
  /** Ends a step. @returns its charge; undefined for a step that is free or has already ended. */
  end(step: PaidStep, end: CallEnd): Promise<PendingCharge | undefined>;
  /** Ends all running steps. @param add receives each charge. */
  endAll(end: CallEnd, add: (charge: PendingCharge) => void): Promise<void>;
  /** Releases the holds of all running steps. */
  releaseAll(): Promise<void>;
  /** Stops renewing the holds of all running steps. */
  abandonAll(): void;
  /** Whether there may be holds because the ledger did not answer. */
  hasUncertain(): boolean;
  /** Releases holds that may exist because the ledger did not answer. */
  releaseUncertain(): Promise<void>;
}

/** @param save stores the records of the running steps; rejects if this worker may no longer write. */
export function createPaidSteps(
  services: PaidStepServices,
  { id: questId, request: { payer, requestId }, promptMeta }: QuestRecord,
  job: LeasedJob,
  operation: string,
  save: () => Promise<void>,
): PaidSteps {
  const { adminSettings } = services;
  const hold = createHoldForStep(services);
  const prepareModelCall = createPrepareModelCall(services, hold);
  const running = new Set<PaidStep>();
  /** Steps whose hold is being taken, or may exist because the ledger did not answer. */
  const intended = new Set<PaidStepRecord>();
  let count = 0;
  let model = promptMeta?.model;

  /** Removes a step. @returns false if it was already removed. */
  const remove = (step: PaidStep): boolean => {
    step.close();
    return running.delete(step);
  };

  const next = async ({ info, ownKey }: CatalogueEntry): Promise<StepOptions> => {
    const current = adminSettings.current();
    const { enforceCredits: metered } = current instanceof Promise ? await current : current;
    const number = count;
    count += 1;
    return {
      questId,
      job,
      number,
      payer,
      operation,
      requestId,
      model: info.id,
      metered,
      isOwnKey: ownKey === true,
    };
  };

  const open = async <S extends PaidStep>(
    entry: CatalogueEntry,
    prepare: (options: StepOptions) => () => Promise<S>,
  ): Promise<S> => {
    const options = await next(entry);
    // Checked before the intent is stored: a call that is rejected here needs no recovery.
    const take = prepare(options);
    const begin = async (): Promise<S> => {
      const step = await take();
      running.add(step);
      return step;
    };
    const step = options.metered ? await withIntent(options, begin) : await begin();
    const { release } = step;
    model = options.model;
    return Object.assign(step, {
      async release() {
        remove(step);
        await release();
      },
    });
  };

  /** The step moves from intended to running in one tick, so that no write misses it. */
  const withIntent = async <S>(options: StepOptions, begin: () => Promise<S>): Promise<S> => {
    const intent = holdIntent(options);
    let isUncertain = false;
    intended.add(intent);
    try {
      // Without a stored record no worker could release the hold.
      if (!isFirst(options)) await save();
      isUncertain = true;
      const step = await begin();
      isUncertain = false;
      return step;
    } catch (error) {
      if (isApiError(error)) isUncertain = false;
      throw error;
    } finally {
      if (!isUncertain) intended.delete(intent);
    }
  };

  const end = async (step: PaidStep, how: CallEnd): Promise<PendingCharge | undefined> => {
    if (!remove(step)) return undefined;
    if (step.isDue(how)) return step.due(how);
    await step.release();
    return undefined;
  };

  return {
    model: () => model,
    records: () => [...intended, ...[...running].map((step) => step.note())],
    openModelCall: (entry, request) => open(entry, (options) => prepareModelCall(options, entry, request)),
    openPricedWork: (entry, amount) => open(entry, (options) => () => openPricedWork(hold, options, amount)),
    end,
    async endAll(how, add) {
      for (const step of [...running]) {
        const charge = await end(step, how);
        if (charge !== undefined) add(charge);
      }
    },
    async releaseAll() {
      for (const step of [...running]) await step.release();
    },
    abandonAll() {
      for (const step of [...running]) remove(step);
    },
    hasUncertain: () => intended.size > 0,
    async releaseUncertain() {
      for (const intent of intended) {
        await releaseIntended(services, intent).catch((error: unknown) => {
          // If the store is unavailable, the job is retried; after other failures the hold expires.
          if (isStorageUnavailable(error)) throw error;
          services.onError({ operation, requestId, error });
        });
      }
    },
  };
}
