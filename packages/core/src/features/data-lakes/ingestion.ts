import type { JobHandler } from '../../jobs/handler.ts';
import type { CatalogueEntry } from '../../models/catalogue.ts';
import { isProviderError } from '../../ports/models.ts';
import type { LeasedJob, NewJob, Reschedule } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import type { VectorIndex } from '../../ports/vectors.ts';
import { describeWithoutSums, isApiError } from '../../shared/errors.ts';
import type { DocumentReader, ReadOutcome } from '../files/documents.ts';
import type { FileLibrary } from '../files/library.ts';
import { FILES } from '../files/records.ts';
import { splitText } from './chunks.ts';
import { embedPassages, type LakeEmbeddingServices, lakeModel, modelOfLake } from './embedding.ts';
import { toTag } from './lakes.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './records.ts';
import { type RemoveFileServices, removeFile } from './remove-file.ts';
import { distinctWords } from './words.ts';

const KIND = 'data-lakes.ingest';
const CONCURRENCY = 4;
/** Chunks per paid embedding call. */
const BATCH = 64;
const MAX_CHUNKS = 20_000;
const MAX_BYTES = 100 * 2 ** 20;
const MAX_TAGS = 50;
/** Retry delays after a temporary provider failure; after the last one the file is paused until a user resumes it. */
const PAUSES_MS = [2000, 10_000, 60_000, 300_000];

/** Delay before a file is retried whose owner has no free slot. */
const NEXT_TURN_MS = 1000;

const UNREADABLE = 'The file can no longer be read.';

export function ingestionJob({ id, addedBy: owner }: LakeFileRecord): NewJob {
  return { kind: KIND, key: `${KIND}:${id}`, owner, payload: { id } };
}

export interface IngestionServices extends LakeEmbeddingServices, RemoveFileServices {
  readonly store: Store;
  readonly library: FileLibrary;
  readonly vectors: VectorIndex;
  readonly documents: DocumentReader;
}

/** The reason of a file that waits for its lake. */
export const LAKE_ARCHIVED = 'The data lake is archived.';

/** Why a file stops, as a message for callers. `paused`: it can continue once the reason is gone. */
class Halt extends Error {
  override readonly name = 'Halt';
  readonly status: 'paused' | 'failed';
  constructor(status: 'paused' | 'failed', message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/**
 * Ingests one file into its lake: text, chunks, vectors, batch by batch. Persists the progress after each batch; a
 * repeated batch writes the same chunks under the same ids and charges once under one key.
 */
export function createIngestionHandler(services: IngestionServices): JobHandler {
  const { store, clock, vectors } = services;
  const files = store.collection(LAKE_FILES);
  const lakes = store.collection(LAKES);
  const sources = store.collection(FILES);

  const change = (
    file: LakeFileRecord,
    patch: Partial<Omit<LakeFileRecord, 'id'>>,
  ): Promise<LakeFileRecord | undefined> =>
    files.update(file.id, { ...patch, updatedAt: clock.now() }, { lakeId: file.lakeId, status: 'indexing' });

  /** Removes the chunks of a file that was removed meanwhile. */
  const removeChunks = async ({ id, lakeId }: LakeFileRecord): Promise<void> => {
    if ((await files.get(id)) === undefined) await vectors.remove({ lakeId, fileId: id });
  };

  const run = async (file: LakeFileRecord, lake: LakeRecord, signal: AbortSignal): Promise<void> => {
    if (lake.status === 'archived') throw new Halt('paused', LAKE_ARCHIVED);
    const entry = await modelFor(services, lake);
    const { chunks, tags } = await readFile(services, file, signal);
    const allTags = [...new Set([toTag(lake), ...tags])].slice(0, MAX_TAGS);
    let now = file;
    // Another version of the service may have split it differently: start again.
    if (file.chunkCount !== chunks.length) {
      if (file.vectorizedCount > 0) await vectors.remove({ lakeId: lake.id, fileId: file.id });
      const counted = await change(file, { chunkCount: chunks.length, vectorizedCount: 0 });
      if (counted === undefined) return removeChunks(file);
      now = counted;
    }
    while (now.vectorizedCount < chunks.length) {
      signal.throwIfAborted();
      const place = now.vectorizedCount;
      const texts = chunks.slice(place, place + BATCH);
      await embedPassages(
        services,
        {
          entry,
          texts,
          payer: file.payer,
          requestId: file.requestId,
          operation: 'addDataLakeFile',
          key: `lake:${file.id}:${place}:${now.tries}`,
        },
        { signal },
        (found) =>
          vectors.upsert(
            texts.map((text, index) => ({
              id: `${file.id}:${place + index}`,
              lakeId: lake.id,
              fileId: file.id,
              place: place + index,
              text,
              tags: allTags,
              words: distinctWords(text),
              vector: found[index] ?? [],
            })),
          ),
      );
      const further = await change(now, { vectorizedCount: place + texts.length });
      if (further === undefined) return removeChunks(file);
      now = further;
    }
    if ((await change(now, { status: 'ready', error: undefined })) === undefined) return removeChunks(file);
    await lakes.update(lake.id, { lastSyncAt: clock.now() }, { ownerId: lake.ownerId });
  };

  return {
    kind: KIND,
    concurrency: CONCURRENCY,
    async run(job, signal) {
      const { id } = job.payload as { id: string };
      const file = await files.get(id, { status: 'indexing' });
      const lake = file && (await lakes.get(file.lakeId, { status: { not: 'deleting' } }));
      if (file === undefined || lake === undefined) return undefined;
      try {
        await run(file, lake, signal);
        return undefined;
      } catch (error) {
        if (signal.aborted) throw error;
        if (error instanceof NoTurn) return { afterMs: NEXT_TURN_MS, countAttempt: false };
        const halt = getHalt(error);
        if (halt === undefined) throw error;
        // The file was deleted concurrently: its cleanup may have missed the new chunks.
        if (halt.message === UNREADABLE && (await sources.get(file.fileId)) === undefined) {
          await removeFile(services, file);
          return undefined;
        }
        // The hold was released: a retry needs a new key.
        const tries = { tries: file.tries + 1 };
        const again = halt.status === 'paused' ? getPause(job, error) : undefined;
        if (again !== undefined) await change(file, tries);
        else await change(file, { ...tries, status: halt.status, error: halt.message });
        if (halt.cause !== undefined)
          services.onError({ operation: `job:${KIND}`, requestId: file.requestId, error: halt.cause });
        return again;
      }
    },
  };
}

/** The lake's model; the first ingested file sets it. */
async function modelFor(services: IngestionServices, lake: LakeRecord): Promise<CatalogueEntry> {
  const wanted = modelOfLake(services, lake);
  if (wanted === undefined) throw new Halt('paused', 'No embedding model is configured.');
  const entry = await lakeModel(services, wanted);
  if (lake.embeddingModel !== undefined) return entry;
  const lakes = services.store.collection(LAKES);
  const chosen = await lakes.update(lake.id, { embeddingModel: wanted }, { embeddingModel: null });
  const now = chosen ?? (await lakes.get(lake.id));
  return now?.embeddingModel === undefined || now.embeddingModel === wanted
    ? entry
    : lakeModel(services, now.embeddingModel);
}

async function readFile(
  { library, documents }: IngestionServices,
  file: LakeFileRecord,
  signal: AbortSignal,
): Promise<{ chunks: readonly string[]; tags: readonly string[] }> {
  const about = await library.get(file.addedBy, file.fileId);
  if (about === undefined) throw new Halt('failed', UNREADABLE);
  const load = () => library.read(file.addedBy, file.fileId, MAX_BYTES, { signal });
  const outcome = await documents.read(about, load, { owner: file.addedBy, waits: false, signal });
  if (outcome.status !== 'read') throw describeOutcome(outcome, about.mimeType);
  const { text, tags = [] } = outcome;
  const chunks = await splitText(text.toWellFormed(), { most: MAX_CHUNKS, signal });
  if (chunks.length === 0) throw new Halt('failed', 'The file contains no text.');
  if (chunks.length > MAX_CHUNKS)
    throw new Halt('failed', 'The file exceeds the maximum text of a data lake.');
  return { chunks, tags };
}

/** Other documents of the owner occupy the slots: reschedules the job instead of blocking a worker. */
class NoTurn extends Error {
  override readonly name = 'NoTurn';
}

function describeOutcome(outcome: Exclude<ReadOutcome, { status: 'read' }>, mimeType: string): Error {
  switch (outcome.status) {
    case 'busy':
      return new NoTurn();
    case 'gone':
      return new Halt('failed', UNREADABLE);
    case 'unsupported':
      return new Halt('failed', `Text extraction does not support files of the type ${mimeType}.`);
    case 'refused':
      return new Halt('failed', `The file could not be read: ${outcome.reason}.`, outcome.cause);
    case 'unreadable':
      return new Halt('failed', `The file could not be read as ${mimeType}.`, outcome.cause);
    case 'unavailable':
      return outcome.cause instanceof Error ? outcome.cause : new Error('no document can be read');
  }
}

/** @returns undefined for a temporary failure: the job is retried. */
function getHalt(error: unknown): Halt | undefined {
  if (error instanceof Halt) return error;
  if (isApiError(error) && error.status === 422) return new Halt('paused', describeWithoutSums(error));
  if (!isProviderError(error)) return undefined;
  switch (error.kind) {
    case 'invalid_request':
    case 'context_length':
    case 'content_blocked':
      return new Halt('failed', 'The embedding model rejected the text of this file.', error);
    case 'rejected_key':
    case 'not_configured':
      return new Halt('paused', 'No configured key gives access to the embedding model.', error);
    default:
      return new Halt('paused', 'The embedding model did not respond.', error);
  }
}

/** Retries after a temporary provider failure, before the file is paused for a user. */
function getPause({ attempt }: LeasedJob, error: unknown): Reschedule | undefined {
  if (
    !isProviderError(error) ||
    !['overloaded', 'timeout', 'failed', 'malformed_answer'].includes(error.kind)
  )
    return undefined;
  const afterMs = PAUSES_MS[attempt - 1];
  return afterMs === undefined
    ? undefined
    : { afterMs: Math.max(afterMs, error.retryAfterMs ?? 0), countAttempt: true };
}
