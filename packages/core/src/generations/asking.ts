import type { Prolong, RunAgain } from '../engine/worker.ts';
import { isApiError } from '../errors.ts';
import type { FilesReader } from '../files/reader.ts';
import { pictureOf } from '../images/pictures.ts';
import { askOnce } from '../media/asking.ts';
import type { Breaker } from '../models/breaker.ts';
import type { AudioResult, Media } from '../ports/media.ts';
import { isProviderError } from '../ports/models.ts';
import type { LeasedJob } from '../ports/queue.ts';
import { isStorageUnavailable } from '../ports/store.ts';
import type { RunningQuest } from '../quests/running.ts';
import { type EndServices, type Ends, type Failure, failureOf, GONE } from './ends.ts';
import { CANCELLABLE, GENERATIONS, type GenerationRecord } from './records.ts';
import type { GenerationSettings } from './settings.ts';
import type { Storing } from './storing.ts';
import { within } from './within.ts';

export interface AskServices extends EndServices {
  readonly files: FilesReader;
  readonly breaker: Breaker;
  readonly generations: GenerationSettings;
}

/** Asks a provider for the work: once, whatever happens. */
export interface Asking {
  ask(
    record: GenerationRecord,
    job: LeasedJob,
    running: RunningQuest,
    prolong: Prolong,
  ): Promise<RunAgain | undefined>;
  /** Somebody was about to ask, or has asked, and did not live to tell. */
  lost(record: GenerationRecord): Promise<undefined>;
}

/** So long a provider may take to accept work. */
const SUBMIT_MS = 120_000;
const LONGEST_PAUSE_MS = 300_000;
/** Pauses between tries to write down what a provider has answered. */
const RETRY_PAUSES_MS = [200, 1000, 5000, 15_000];

const LOST: Failure = {
  state: 'failed',
  code: 'provider_error',
  message: 'It was interrupted while its provider was being asked, and is not asked for twice. Try again.',
};

export function createAsking(services: AskServices, ends: Ends, storing: Storing): Asking {
  const { clock, generations: settings } = services;
  const generations = services.store.collection(GENERATIONS);

  const ask: Asking['ask'] = async (record, job, running, prolong) => {
    const entry = (await services.catalogueOf(record.ownerId)).find(record.model);
    const making = await ends.makingOf(record);
    if (entry === undefined || making === undefined) return ends.fail(record, GONE);
    let image: Media | undefined;
    if ('mode' in record.wish && record.wish.inputImageFileId !== undefined) {
      try {
        image = await pictureOf(services.files, record.ownerId, record.wish.inputImageFileId, entry.info);
      } catch (error) {
        if (!isApiError(error)) throw error;
        return ends.fail(record, failureOf(error, 'unsupported_input'));
      }
    }
    // What is lost is not asked for again: not after a silence as short as a look may be lost after.
    await prolong();
    const asker = `${job.id}:${job.fence}`;
    const now = clock.now();
    // The intention, before the deed: whoever finds it without an outcome does not ask again.
    const intending = await generations.update(
      record.id,
      { state: 'running', step: 'submitting', asker, askedAt: record.askedAt ?? now, updatedAt: now },
      { state: CANCELLABLE, step: null },
    );
    if (intending === undefined) return ends.moved(record.id);
    return making.jobs === undefined
      ? call(intending, making.once, running)
      : submit(intending, (options) => making.submit(image, options));
  };

  /** Not broken off by anything but time: what a provider has accepted must be known. */
  const submit = async (
    record: GenerationRecord,
    work: (options: { signal: AbortSignal }) => Promise<string>,
  ): Promise<RunAgain | undefined> => {
    let providerJobId: string;
    try {
      providerJobId = await within(clock, SUBMIT_MS, undefined, (signal) =>
        askOnce(services, record.provider, signal, () => work({ signal })),
      );
    } catch (error) {
      return refused(record, error);
    }
    if (await noteJob(record, providerJobId)) return { afterMs: settings.pollMs, countAttempt: false };
    return ends.moved(record.id, providerJobId);
  };

  /** @returns false when it is nobody's any more: it was cancelled, or given up by somebody who thought us dead. */
  const noteJob = async ({ id, asker }: GenerationRecord, providerJobId: string): Promise<boolean> => {
    const patch = { step: 'submitted', providerJobId, updatedAt: clock.now() } as const;
    const noted = await insisting(() =>
      generations.update(id, patch, { state: 'running', step: 'submitting', asker: asker ?? null }),
    );
    // A write that seemed to fail may have been done.
    return noted !== undefined || (await generations.get(id))?.providerJobId === providerJobId;
  };

  const insisting = async <T>(write: () => Promise<T>): Promise<T> => {
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

  /** One long call. Its result is in this process's hands only, until it is kept. */
  const call = async (
    record: GenerationRecord,
    once: (options: { signal: AbortSignal }) => Promise<AudioResult>,
    running: RunningQuest,
  ): Promise<RunAgain | undefined> => {
    let result: AudioResult;
    try {
      result = await within(clock, settings.maxMs, running.signal, (signal) =>
        askOnce(services, record.provider, signal, () => once({ signal })),
      );
    } catch (error) {
      if (running.brokenOff === 'stopping') return lost(record);
      if (running.brokenOff !== undefined) throw error;
      return refused(record, error);
    }
    const made = await generations.update(
      record.id,
      { state: 'storing', updatedAt: clock.now() },
      { state: 'running', step: 'submitting', asker: record.asker ?? null },
    );
    return made === undefined ? ends.moved(record.id) : storing.keep(made, result, running.signal);
  };

  const refused = async (record: GenerationRecord, error: unknown): Promise<RunAgain | undefined> => {
    const asIs = { asker: record.asker ?? null } as const;
    ends.report(record, error);
    const isBusy = isProviderError(error) && error.kind === 'overloaded';
    const isInTime = clock.now() - (record.askedAt ?? record.createdAt) < settings.maxMs;
    if (!isBusy || !isInTime) return ends.fail(record, failureOf(error), asIs);
    // It said no: this is the one answer after which it may be asked again.
    const back = { step: undefined, asker: undefined, updatedAt: clock.now() };
    const waiting = await generations.update(record.id, back, { state: 'running', ...asIs });
    if (waiting === undefined) return ends.moved(record.id);
    const pause = Math.max(settings.pollMs, error.retryAfterMs ?? 0);
    return { afterMs: Math.min(LONGEST_PAUSE_MS, pause), countAttempt: false };
  };

  const lost: Asking['lost'] = (record) =>
    ends.fail(record, LOST, { step: 'submitting', asker: record.asker ?? null });

  return { ask, lost };
}
