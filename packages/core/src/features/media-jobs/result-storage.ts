import type { CircuitBreaker } from '../../models/breaker.ts';
import type { Usage } from '../../ports/ledger.ts';
import type { AudioResult } from '../../ports/media.ts';
import { isProviderError } from '../../ports/models.ts';
import type { Reschedule } from '../../ports/queue.ts';
import type { FileLibrary, SkippedReason } from '../files/library.ts';
import { FILES, type FileRecord } from '../files/records.ts';
import { callProvider } from './ask-provider.ts';
import type { GenerationWork } from './kind.ts';
import { getDue, settle } from './money.ts';
import { withProviderTimeout } from './provider-timeout.ts';
import type { GenerationRecord } from './records.ts';
import { madeFileId } from './result-id.ts';
import type { GenerationSettings } from './settings.ts';
import { getGenerations } from './stored.ts';
import { type EndServices, type Failure, GONE, type Termination, toFailure } from './termination.ts';

export interface StoringServices extends EndServices {
  readonly library: FileLibrary;
  readonly breaker: CircuitBreaker;
  readonly generations: GenerationSettings;
}

/** Stores results as files of their owners, and settles the credit. */
export interface ResultStorage {
  /** Fetches the result from its provider, as a stream. */
  fetch(record: GenerationRecord, signal: AbortSignal): Promise<Reschedule | undefined>;
  /** Stores a result that arrived in one piece. */
  keep(record: GenerationRecord, result: AudioResult, signal: AbortSignal): Promise<undefined>;
  /** Charges for a stored result, and ends the generation. */
  conclude(record: GenerationRecord): Promise<undefined>;
}

/** Timeout for the transfer of a result, milliseconds. */
const FETCH_MS = 15 * 60_000;
const MAX_FAILURES = 5;

const SKIPPED: Readonly<Record<SkippedReason, Failure>> = {
  file_too_large: {
    state: 'failed',
    code: 'output_too_large',
    message: 'The result exceeds the maximum file size.',
  },
  storage_limit: {
    state: 'failed',
    code: 'limit_exceeded',
    message: 'The storage quota for your files is used up.',
  },
  error: {
    state: 'failed',
    code: 'provider_error',
    message: 'The result could not be fetched or stored.',
  },
};

const ENDINGS: Readonly<Record<string, string>> = {
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'audio/ogg': 'ogg',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
};

export function createResultStorage(
  services: StoringServices,
  kind: Pick<GenerationWork, 'kind' | 'operation' | 'getMimeType'>,
  termination: Termination,
): ResultStorage {
  const { store, clock, library, generations: settings } = services;
  const generations = getGenerations(store);
  const files = store.collection(FILES);

  const save = (
    record: GenerationRecord,
    contentType: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ) => {
    const mimeType = kind.getMimeType(record.input, contentType);
    const ending = ENDINGS[mimeType];
    const name = `${kind.kind}-${record.id.slice(-6)}${ending === undefined ? '' : `.${ending}`}`;
    const made = { id: getFileId(record), name, mimeType, content, isModerated: true };
    return library.save(record.ownerId, made, { signal });
  };

  const fetch: ResultStorage['fetch'] = async (record, signal) => {
    const known = await files.get(getFileId(record), { ownerId: record.ownerId });
    if (known !== undefined) return kept(record, known);
    const jobs = (await termination.getSubmission(record))?.jobs;
    if (jobs === undefined) return termination.fail(record, GONE, AS_MADE);
    const circuit = await termination.getCircuit(record);
    try {
      const saved = await withProviderTimeout(clock, FETCH_MS, signal, async (inner) => {
        const { mediaType, body } = await callProvider(services, circuit, inner, () =>
          jobs.fetch(record.result ?? null, { signal: inner }),
        );
        try {
          return await save(record, mediaType, body, inner);
        } finally {
          // The result is already stored, or the quota is used up: then the stream was not read.
          await body[Symbol.asyncIterator]().return?.();
        }
      });
      if (saved.file !== undefined) return await kept(record, saved.file);
      if (saved.skipped !== 'error') return await termination.fail(record, SKIPPED[saved.skipped], AS_MADE);
    } catch (error) {
      // Errors other than the store's are retried by the engine.
      if (!isProviderError(error)) throw error;
      termination.report(record, error);
      if (error.kind === 'content_blocked') return termination.fail(record, toFailure(error), AS_MADE);
    }
    return failedOnce(record);
  };

  const failedOnce = async (record: GenerationRecord): Promise<Reschedule | undefined> => {
    const failures = (record.failures ?? 0) + 1;
    if (failures >= MAX_FAILURES) return termination.fail(record, SKIPPED.error, AS_MADE);
    const counted = await generations.update(record.id, { failures, updatedAt: clock.now() }, AS_MADE);
    if (counted === undefined) return termination.resolveConflict(record.id);
    return { afterMs: settings.pollMs * 2 ** (failures - 1), countAttempt: false };
  };

  /** Persisted before the ledger is called: every recovery ends it the same way. */
  const kept = async (record: GenerationRecord, file: FileRecord, usage?: Usage): Promise<undefined> => {
    const due = getDue(record, { seconds: record.resultSeconds, bytes: file.size, usage });
    const known = await generations.update(
      record.id,
      { step: 'kept', file: { id: file.id, mimeType: file.mimeType }, due, updatedAt: clock.now() },
      { state: 'storing', step: record.step ?? null },
    );
    return known === undefined ? termination.resolveConflict(record.id) : conclude(known);
  };

  const conclude: ResultStorage['conclude'] = async (record) => {
    const settled = await settle(services, kind.operation, record);
    const ended = await generations.update(
      record.id,
      {
        state: 'succeeded',
        ...(settled !== undefined && { settled }),
        nextCheckAt: undefined,
        updatedAt: clock.now(),
      },
      { state: 'storing', step: 'kept' },
    );
    if (ended !== undefined) services.questEvents.ended(record.id);
    return undefined;
  };

  return {
    fetch,
    conclude,
    async keep(record, { mediaType, data, usage }, signal) {
      const saved = await save(record, mediaType, data, signal);
      if (saved.file === undefined) return termination.fail(record, SKIPPED[saved.skipped]);
      return kept(record, saved.file, usage);
    },
  };
}

const AS_MADE = { state: 'storing', step: 'made' } as const;

/** Known in advance: a worker that repeats the work finds the stored file. */
function getFileId({ id }: GenerationRecord): string {
  return madeFileId(id, 0);
}
