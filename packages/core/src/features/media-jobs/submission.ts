import type { ExtendLease } from '../../jobs/handler.ts';
import type { Circuit, CircuitBreaker } from '../../models/breaker.ts';
import type { AudioResult, Media } from '../../ports/media.ts';
import { isProviderError } from '../../ports/models.ts';
import type { LeasedJob, Reschedule } from '../../ports/queue.ts';
import { isStorageUnavailable } from '../../ports/store.ts';
import { type RunningQuest, untilInterrupted } from '../../runs/running.ts';
import { isApiError } from '../../shared/errors.ts';
import { readInputImage } from '../files/input-image.ts';
import type { FilesReader } from '../files/reader.ts';
import { callProvider } from './ask-provider.ts';
import { withProviderTimeout } from './provider-timeout.ts';
import { CANCELLABLE, type GenerationRecord } from './records.ts';
import type { ResultStorage } from './result-storage.ts';
import type { GenerationSettings } from './settings.ts';
import { getGenerations } from './stored.ts';
import { type EndServices, type Failure, GONE, type Termination, toFailure } from './termination.ts';

export interface AskServices extends EndServices {
  readonly files: FilesReader;
  readonly breaker: CircuitBreaker;
  readonly generations: GenerationSettings;
}

/** Submits the work to a provider, at most once. */
export interface Submission {
  ask(
    record: GenerationRecord,
    job: LeasedJob,
    running: RunningQuest,
    extendLease: ExtendLease,
  ): Promise<Reschedule | undefined>;
  /** The worker crashed during submission; the outcome is unknown. */
  failInterrupted(record: GenerationRecord): Promise<undefined>;
}

/** Submission timeout, milliseconds. */
const SUBMIT_MS = 120_000;
const MAX_PAUSE_MS = 300_000;
/** Delays between attempts to persist a provider's answer, milliseconds. */
const RETRY_PAUSES_MS = [200, 1000, 5000, 15_000];

const LOST: Failure = {
  state: 'failed',
  code: 'provider_error',
  message: 'The submission to the provider was interrupted, and is not repeated. Try again.',
};

export function createSubmission(
  services: AskServices,
  termination: Termination,
  resultStorage: ResultStorage,
): Submission {
  const { clock, generations: settings } = services;
  const generations = getGenerations(services.store);

  const ask: Submission['ask'] = async (record, job, running, extendLease) => {
    const entry = (await services.getCatalogue(record.payer)).find(record.model);
    const making = await termination.getSubmission(record);
    if (entry === undefined || making === undefined) return termination.fail(record, GONE);
    let image: Media | undefined;
    if ('mode' in record.input && record.input.inputImageFileId !== undefined) {
      try {
        image = await readInputImage(
          services.files,
          record.ownerId,
          record.input.inputImageFileId,
          entry.info,
        );
      } catch (error) {
        if (!isApiError(error)) throw error;
        return termination.fail(record, toFailure(error, 'unsupported_input'));
      }
    }
    const circuit = await termination.getCircuit(record);
    // An interrupted submission is never repeated. Its lease is longer than that of a poll.
    await extendLease();
    const submittedBy = `${job.id}:${job.fence}`;
    const now = clock.now();
    // Persist the intention before the call: a worker that finds it without an outcome does not submit again.
    const intending = await generations.update(
      record.id,
      {
        state: 'running',
        step: 'submitting',
        submittedBy,
        submittedAt: record.submittedAt ?? now,
        updatedAt: now,
      },
      { state: CANCELLABLE, step: null },
    );
    if (intending === undefined) return termination.resolveConflict(record.id);
    return making.jobs === undefined
      ? call(intending, circuit, making.once, running)
      : submit(intending, circuit, (options) => making.submit(image, options));
  };

  /** Only the timeout aborts this call: the outcome of a submission must be known. */
  const submit = async (
    record: GenerationRecord,
    circuit: Circuit,
    work: (options: { signal: AbortSignal }) => Promise<string>,
  ): Promise<Reschedule | undefined> => {
    let providerJobId: string;
    try {
      providerJobId = await withProviderTimeout(clock, SUBMIT_MS, undefined, (signal) =>
        callProvider(services, circuit, signal, () => work({ signal })),
      );
    } catch (error) {
      return refused(record, error);
    }
    if (await noteJob(record, providerJobId)) return { afterMs: settings.pollMs, countAttempt: false };
    return termination.resolveConflict(record.id, { providerJobId });
  };

  /** @returns false when this worker does not own the generation any more: it was cancelled, or failed as interrupted. */
  const noteJob = async ({ id, submittedBy }: GenerationRecord, providerJobId: string): Promise<boolean> => {
    const patch = { step: 'submitted', providerJobId, updatedAt: clock.now() } as const;
    const noted = await withRetry(() =>
      generations.update(id, patch, {
        state: 'running',
        step: 'submitting',
        submittedBy: submittedBy ?? null,
      }),
    );
    // A write that reported an error may have succeeded.
    return noted !== undefined || (await generations.get(id))?.providerJobId === providerJobId;
  };

  const withRetry = async <T>(write: () => Promise<T>): Promise<T> => {
    for (const pause of RETRY_PAUSES_MS) {
      try {
        return await write();
      } catch (error) {
        if (!isStorageUnavailable(error)) throw error;
        await new Promise<void>((resolve) => {
          clock.timer(pause, resolve);
        });
      }
    }
    return write();
  };

  /** Makes one long call. Its result exists only in this process until it is stored. */
  const call = async (
    record: GenerationRecord,
    circuit: Circuit,
    once: (options: { signal: AbortSignal }) => Promise<AudioResult>,
    running: RunningQuest,
  ): Promise<Reschedule | undefined> => {
    let result: AudioResult;
    try {
      result = await withProviderTimeout(clock, settings.maxMs, untilInterrupted(running.signal), (signal) =>
        callProvider(services, circuit, signal, () => once({ signal })),
      );
    } catch (error) {
      if (running.interruption() === 'stopping') return failInterrupted(record);
      if (running.interruption() === 'lease-lost') throw error;
      return refused(record, error);
    }
    const made = await generations.update(
      record.id,
      { state: 'storing', updatedAt: clock.now() },
      { state: 'running', step: 'submitting', submittedBy: record.submittedBy ?? null },
    );
    const { data, usage } = result;
    return made === undefined
      ? termination.resolveConflict(record.id, { made: { bytes: data.length, usage } })
      : resultStorage.keep(made, result, running.signal);
  };

  const refused = async (record: GenerationRecord, error: unknown): Promise<Reschedule | undefined> => {
    const asIs = { submittedBy: record.submittedBy ?? null } as const;
    termination.report(record, error);
    if ((await generations.get(record.id))?.state === 'cancelled')
      return termination.resolveConflict(record.id);
    const isBusy = isProviderError(error) && error.kind === 'overloaded';
    const isInTime = clock.now() - (record.submittedAt ?? record.createdAt) < settings.maxMs;
    if (!isBusy || !isInTime) return termination.fail(record, toFailure(error), asIs);
    // A rejection is the only outcome that permits another submission.
    const back = { step: undefined, submittedBy: undefined, updatedAt: clock.now() };
    const waiting = await generations.update(record.id, back, { state: 'running', ...asIs });
    if (waiting === undefined) return termination.resolveConflict(record.id);
    const pause = Math.max(settings.pollMs, error.retryAfterMs ?? 0);
    return { afterMs: Math.min(MAX_PAUSE_MS, pause), countAttempt: false };
  };

  const failInterrupted: Submission['failInterrupted'] = (record) =>
    termination.fail(record, LOST, { step: 'submitting', submittedBy: record.submittedBy ?? null });

  return { ask, failInterrupted };
}
