import type { ReservationServices } from '../../credits/reservations.ts';
import type { GetCatalogue } from '../../models/allowed-models.ts';
import type { Circuit } from '../../models/breaker.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { providerFailure } from '../../models/failures.ts';
import type { Usage } from '../../ports/ledger.ts';
import { isProviderError, type ModelProvider } from '../../ports/models.ts';
import type { Filter, Store } from '../../ports/store.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { type ApiError, isApiError } from '../../shared/errors.ts';
import type { GenerationWork, Making } from './kind.ts';
import { dueOfCancelled, release, settle } from './money.ts';
import { withProviderTimeout } from './provider-timeout.ts';
import { type GenerationRecord, hasEnded } from './records.ts';
import { getGenerations } from './stored.ts';

export interface EndServices extends ReservationServices {
  readonly store: Store;
  readonly questEvents: QuestEvents;
  readonly getCatalogue: GetCatalogue;
  readonly providers: readonly ModelProvider[];
}

/** Ends generations without a result. */
export interface Termination {
  /** Ends it without a charge, unless it has ended or its result is stored. @param guard further conditions. */
  fail(record: GenerationRecord, failure: Failure, guard?: Filter<GenerationRecord>): Promise<undefined>;
  /**
   * Handles a concurrent change: cleans up a generation that has ended, and leaves any other to its owner.
   * @param outcome of the provider's work, if it is not persisted.
   */
  resolveConflict(id: string, outcome?: LateOutcome): Promise<undefined>;
  /** Releases the resources of an ended generation: its hold, and the work of its provider. Safe to repeat. */
  cleanUp(record: GenerationRecord): Promise<undefined>;
  /** Cancels at the provider. @returns whether the provider has stopped. Never rejects. */
  cancelAtProvider(record: GenerationRecord): Promise<boolean>;
  /** @returns undefined when the provider is not configured any more. */
  getSubmission(record: GenerationRecord): Promise<Making | undefined>;
  /** The key of its calls in the circuit breaker. */
  getCircuit(record: GenerationRecord): Promise<Circuit>;
  report(record: GenerationRecord, error: unknown): void;
}

/** The provider's outcome of work that was cancelled meanwhile: accepted or completed. */
export interface LateOutcome {
  readonly providerJobId?: string;
  readonly made?: { readonly bytes: number; readonly usage?: Usage | undefined };
}

export type Failure = NonNullable<GenerationRecord['error']> & { readonly state: 'failed' | 'blocked' };

const CANCEL_MS = 30_000;

export const GONE: Failure = {
  state: 'failed',
  code: 'model_unavailable',
  message: 'The model is no longer available.',
};

export const FAILED: Failure = {
  state: 'failed',
  code: 'provider_error',
  message: 'The model provider could not generate it.',
};

export const TOO_LONG: Failure = {
  state: 'failed',
  code: 'provider_timeout',
  message: 'The model provider timed out.',
};

export const BLOCKED: Failure = {
  state: 'blocked',
  code: 'content_blocked',
  message: "The model provider's safety rules blocked this.",
};

/** Converts a provider failure to a message of our own. */
export function toFailure(error: unknown, otherwise: Failure['code'] = 'provider_error'): Failure {
  if (isProviderError(error) && error.kind === 'content_blocked') return BLOCKED;
  const { code = otherwise, message }: ApiError = isApiError(error)
    ? error
    : providerFailure(error, 'public');
  return { state: 'failed', code, message };
}

export function createTermination(
  services: EndServices,
  { job, operation, making }: Pick<GenerationWork, 'job' | 'operation' | 'making'>,
): Termination {
  const { clock, questEvents } = services;
  const generations = getGenerations(services.store);

  const report: Termination['report'] = ({ requestId }, error) => {
    services.onError({ operation: `job:${job}`, requestId, error });
  };

  const findOwn = async ({ ownerId, provider }: GenerationRecord): Promise<CatalogueEntry | undefined> => {
    const catalogue = await services.getCatalogue({ userId: ownerId });
    return catalogue.list().find((entry) => entry.ownKey && entry.provider.id === provider);
  };

  const getSubmission: Termination['getSubmission'] = async (record) => {
    // Work that was submitted with the owner's key is visible only to that key; other work, to the workspace's key.
    const provider =
      record.ownKey === true
        ? (await findOwn(record))?.provider
        : services.providers.find(({ id }) => id === record.provider);
    return provider && making(provider, record);
  };

  const getCircuit: Termination['getCircuit'] = async (record) => ({
    providerId: record.provider,
    model: record.providerModel,
    credential: record.ownKey === true ? ((await findOwn(record))?.credential ?? record.ownerId) : undefined,
    callerId: record.ownerId,
  });

  const cancelAtProvider: Termination['cancelAtProvider'] = async (record) => {
    const { providerJobId } = record;
    if (providerJobId === undefined) return true;
    try {
      const making = await getSubmission(record);
      // A provider that was removed is not the caller's error.
      if (making === undefined) return true;
      const { jobs } = making;
      if (jobs?.cancel === undefined) return false;
      await withProviderTimeout(clock, CANCEL_MS, undefined, async (signal) =>
        jobs.cancel?.(providerJobId, { signal }),
      );
      return true;
    } catch (error) {
      report(record, error);
      return false;
    }
  };

  /** Charges for a result that the provider completed despite the cancellation. */
  const cleanUpCancelled = async (
    record: GenerationRecord,
    { providerJobId = record.providerJobId, made }: LateOutcome,
  ): Promise<undefined> => {
    const isFree =
      record.due === undefined &&
      made === undefined &&
      (providerJobId === undefined || (await cancelAtProvider({ ...record, providerJobId })));
    if (isFree) await release(services, operation, record);
    else await settleCancelled(record, made);
    await generations.update(record.id, { nextCheckAt: undefined });
    return undefined;
  };

  const settleCancelled = async (record: GenerationRecord, made: LateOutcome['made']): Promise<void> => {
    const due = record.due ?? dueOfCancelled(record, made);
    // Stored before it is settled: a later look at the provider may have another outcome.
    await generations.update(record.id, { due });
    const settled = await settle(services, operation, { ...record, due });
    if (settled !== undefined) await generations.update(record.id, { settled });
  };

  const cleanUp = async (record: GenerationRecord, outcome: LateOutcome = {}): Promise<undefined> => {
    if (record.state === 'cancelled') return cleanUpCancelled(record, outcome);
    if (record.state !== 'succeeded') await release(services, operation, record);
    const { providerJobId } = outcome;
    // Accepted too late: only this worker knows the provider's id.
    if (providerJobId !== undefined) await cancelAtProvider({ ...record, providerJobId });
    return undefined;
  };

  return {
    report,
    getSubmission,
    getCircuit,
    cancelAtProvider,
    cleanUp: (record) => cleanUp(record),

    async fail(record, { state, code, message }, guard = {}) {
      const ended = await generations.update(
        record.id,
        { state, error: { code, message }, nextCheckAt: undefined, updatedAt: clock.now() },
        { state: { in: ['pending', 'running', 'storing'] }, step: { not: 'kept' }, ...guard },
      );
      if (ended === undefined) return undefined;
      questEvents.ended(ended.id);
      await release(services, operation, ended);
      return undefined;
    },

    async resolveConflict(id, outcome) {
      const record = await generations.get(id);
      if (record !== undefined && hasEnded(record)) await cleanUp(record, outcome);
      return undefined;
    },
  };
}
