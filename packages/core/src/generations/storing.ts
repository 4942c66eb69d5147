import type { RunAgain } from '../engine/worker.ts';
import type { FileLibrary, SkippedReason } from '../files/library.ts';
import { FILES, type FileRecord } from '../files/records.ts';
import { askOnce } from '../media/asking.ts';
import { madeFileId } from '../media/made.ts';
import type { Breaker } from '../models/breaker.ts';
import type { Usage } from '../ports/ledger.ts';
import type { AudioResult } from '../ports/media.ts';
import { isProviderError } from '../ports/models.ts';
import { type EndServices, type Ends, type Failure, failureOf, GONE } from './ends.ts';
import type { GenerationWork } from './kind.ts';
import { dueOf, settle } from './money.ts';
import { GENERATIONS, type GenerationRecord } from './records.ts';
import type { GenerationSettings } from './settings.ts';
import { within } from './within.ts';

export interface StoringServices extends EndServices {
  readonly library: FileLibrary;
  readonly breaker: Breaker;
  readonly generations: GenerationSettings;
}

/** Keeps results as files of their owners, and settles. */
export interface Storing {
  /** Fetches the result from its provider, as a stream. */
  fetch(record: GenerationRecord, signal: AbortSignal): Promise<RunAgain | undefined>;
  /** A result that came in one piece. */
  keep(record: GenerationRecord, result: AudioResult, signal: AbortSignal): Promise<undefined>;
  /** It is kept: charges it, and ends. */
  conclude(record: GenerationRecord): Promise<undefined>;
}

/** So long a result may take on its way. */
const FETCH_MS = 15 * 60_000;
const MOST_FAILURES = 5;

const SKIPPED: Readonly<Record<SkippedReason, Failure>> = {
  file_too_large: {
    state: 'failed',
    code: 'output_too_large',
    message: 'The result is larger than files may be.',
  },
  storage_limit: {
    state: 'failed',
    code: 'limit_exceeded',
    message: 'There is no room left for your files.',
  },
  error: {
    state: 'failed',
    code: 'provider_error',
    message: 'The result could not be fetched, or not be kept.',
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

export function createStoring(
  services: StoringServices,
  kind: Pick<GenerationWork, 'kind' | 'operation' | 'mimeTypeOf'>,
  ends: Ends,
): Storing {
  const { store, clock, library, generations: settings } = services;
  const generations = store.collection(GENERATIONS);
  const files = store.collection(FILES);

  const save = (
    record: GenerationRecord,
    told: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ) => {
    const mimeType = kind.mimeTypeOf(record.wish, told);
    const ending = ENDINGS[mimeType];
    const name = `${kind.kind}-${record.id.slice(-6)}${ending === undefined ? '' : `.${ending}`}`;
    const made = { id: fileIdOf(record), name, mimeType, content, isModerated: true };
    return library.save(record.ownerId, made, { signal });
  };

  const fetch: Storing['fetch'] = async (record, signal) => {
    const known = await files.get(fileIdOf(record), { ownerId: record.ownerId });
    if (known !== undefined) return kept(record, known);
    const jobs = (await ends.makingOf(record))?.jobs;
    if (jobs === undefined) return ends.fail(record, GONE, AS_MADE);
    try {
      const saved = await within(clock, FETCH_MS, signal, async (inner) => {
        const { mediaType, body } = await askOnce(services, record.provider, inner, () =>
          jobs.fetch(record.result ?? null, { signal: inner }),
        );
        try {
          return await save(record, mediaType, body, inner);
        } finally {
          // Somebody may have kept it already, or there is no room: then nobody has read it.
          await body[Symbol.asyncIterator]().return?.();
        }
      });
      if (saved.file !== undefined) return await kept(record, saved.file);
      if (saved.skipped !== 'error') return await ends.fail(record, SKIPPED[saved.skipped], AS_MADE);
    } catch (error) {
      signal.throwIfAborted();
      // Not the store's trouble: that is the engine's to try again.
      if (!isProviderError(error)) throw error;
      ends.report(record, error);
      if (error.kind === 'content_blocked') return ends.fail(record, failureOf(error), AS_MADE);
    }
    return failedOnce(record);
  };

  const failedOnce = async (record: GenerationRecord): Promise<RunAgain | undefined> => {
    const failures = (record.failures ?? 0) + 1;
    if (failures >= MOST_FAILURES) return ends.fail(record, SKIPPED.error, AS_MADE);
    const counted = await generations.update(record.id, { failures, updatedAt: clock.now() }, AS_MADE);
    if (counted === undefined) return ends.moved(record.id);
    return { afterMs: settings.pollMs * 2 ** (failures - 1), countAttempt: false };
  };

  /** Written down before the ledger is told: whoever finds this ends it the same way, however often. */
  const kept = async (record: GenerationRecord, file: FileRecord, usage?: Usage): Promise<undefined> => {
    const due = dueOf(record, { seconds: record.resultSeconds, bytes: file.size, usage });
    const known = await generations.update(
      record.id,
      { step: 'kept', file: { id: file.id, mimeType: file.mimeType }, due, updatedAt: clock.now() },
      { state: 'storing', step: record.step ?? null },
    );
    return known === undefined ? ends.moved(record.id) : conclude(known);
  };

  const conclude: Storing['conclude'] = async (record) => {
    const settled = await settle(services, kind.operation, record);
    const ended = await generations.update(
      record.id,
      {
        state: 'succeeded',
        ...(settled !== undefined && { settled }),
        tendAt: undefined,
        updatedAt: clock.now(),
      },
      { state: 'storing', step: 'kept' },
    );
    if (ended !== undefined) services.notices.ended(record.id);
    return undefined;
  };

  return {
    fetch,
    conclude,
    async keep(record, { mediaType, data, usage }, signal) {
      const saved = await save(record, mediaType, data, signal);
      if (saved.file === undefined) return ends.fail(record, SKIPPED[saved.skipped], { state: 'storing' });
      return kept(record, saved.file, usage);
    },
  };
}

const AS_MADE = { state: 'storing', step: 'made' } as const;

/** Known before it is kept: a worker that does it again finds it. */
function fileIdOf({ id }: GenerationRecord): string {
  return madeFileId(id, 0);
}
