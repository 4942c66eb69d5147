import type { ReservationServices } from '../credits/reservations.ts';
import { type ApiError, isApiError } from '../errors.ts';
import { providerFailure } from '../models/failures.ts';
import { isProviderError, type ModelProvider } from '../ports/models.ts';
import type { Filter, Store } from '../ports/store.ts';
import type { CatalogueOf } from '../provider-keys/own-models.ts';
import type { QuestNotices } from '../quests/notices.ts';
import type { GenerationWork, Making } from './kind.ts';
import { release } from './money.ts';
import { GENERATIONS, type GenerationRecord, hasEnded } from './records.ts';
import { within } from './within.ts';

export interface EndServices extends ReservationServices {
  readonly store: Store;
  readonly notices: QuestNotices;
  readonly catalogueOf: CatalogueOf;
  readonly providers: readonly ModelProvider[];
}

/** How a generation comes to an end without a result, and who makes it. */
export interface Ends {
  /** Ends it for nothing, unless it has ended or is as good as paid for. @param guard what else must hold. */
  fail(record: GenerationRecord, failure: Failure, guard?: Filter<GenerationRecord>): Promise<undefined>;
  /**
   * Somebody else has changed it: what has ended is put away, all else is theirs.
   * @param providerJobId of work that was accepted, and is not written down.
   */
  moved(id: string, providerJobId?: string): Promise<undefined>;
  /** What belongs to one that has ended: its hold, and the work of its provider. Safe to repeat. */
  putAway(record: GenerationRecord): Promise<undefined>;
  /** Best effort. */
  cancelAtProvider(record: GenerationRecord): Promise<void>;
  /** @returns undefined when there is nobody any more who could. */
  makingOf(record: GenerationRecord): Promise<Making | undefined>;
  report(record: GenerationRecord, error: unknown): void;
}

export type Failure = NonNullable<GenerationRecord['error']> & { readonly state: 'failed' | 'blocked' };

const CANCEL_MS = 30_000;

export const GONE: Failure = {
  state: 'failed',
  code: 'model_unavailable',
  message: 'The model can no longer be used.',
};

export const FAILED: Failure = {
  state: 'failed',
  code: 'provider_error',
  message: 'The model provider could not make it.',
};

export const TOO_LONG: Failure = {
  state: 'failed',
  code: 'provider_timeout',
  message: 'The model provider took too long.',
};

export const BLOCKED: Failure = {
  state: 'blocked',
  code: 'content_blocked',
  message: "The model provider's safety rules blocked this.",
};

/** How a failure is told: in our words. */
export function failureOf(error: unknown, otherwise: Failure['code'] = 'provider_error'): Failure {
  if (isProviderError(error) && error.kind === 'content_blocked') return BLOCKED;
  const { code = otherwise, message }: ApiError = isApiError(error)
    ? error
    : providerFailure(error, 'public');
  return { state: 'failed', code, message };
}

export function createEnds(
  services: EndServices,
  { job, operation, making }: Pick<GenerationWork, 'job' | 'operation' | 'making'>,
): Ends {
  const { clock, notices } = services;
  const generations = services.store.collection(GENERATIONS);

  const report: Ends['report'] = ({ requestId }, error) => {
    services.onError({ operation: `job:${job}`, requestId, error });
  };

  const makingOf: Ends['makingOf'] = async (record) => {
    const catalogue = await services.catalogueOf(record.ownerId);
    // Under a key of the owner's own only that key knows of the work; the workspace's knows of all else.
    const provider =
      record.ownKey === true
        ? catalogue.list().find((entry) => entry.ownKey && entry.provider.id === record.provider)?.provider
        : services.providers.find(({ id }) => id === record.provider);
    return provider && making(provider, record);
  };

  const cancelAtProvider: Ends['cancelAtProvider'] = async (record) => {
    const { providerJobId } = record;
    if (providerJobId === undefined) return;
    try {
      const jobs = (await makingOf(record))?.jobs;
      if (jobs?.cancel === undefined) return;
      await within(clock, CANCEL_MS, undefined, async (signal) => jobs.cancel?.(providerJobId, { signal }));
    } catch (error) {
      report(record, error);
    }
  };

  const putAway: Ends['putAway'] = async (record) => {
    if (record.state !== 'succeeded') await release(services, operation, record);
    if (record.state === 'cancelled' && record.step === 'submitted') await cancelAtProvider(record);
    return undefined;
  };

  return {
    report,
    makingOf,
    cancelAtProvider,
    putAway,

    async fail(record, { state, code, message }, guard = {}) {
      const ended = await generations.update(
        record.id,
        { state, error: { code, message }, tendAt: undefined, updatedAt: clock.now() },
        { state: { in: ['pending', 'running', 'storing'] }, step: { not: 'kept' }, ...guard },
      );
      if (ended === undefined) return undefined;
      notices.ended(ended.id);
      await release(services, operation, ended);
      return undefined;
    },

    async moved(id, providerJobId) {
      const record = await generations.get(id);
      if (record === undefined || !hasEnded(record)) return undefined;
      await putAway(record);
      // It was accepted too late: nobody knows of it but we.
      if (providerJobId !== undefined) await cancelAtProvider({ ...record, providerJobId });
      return undefined;
    },
  };
}
