import type { JobHandler, RunAgain } from '../engine/worker.ts';
import { isApiError } from '../errors.ts';
import type { FileLibrary } from '../files/library.ts';
import { FILES } from '../files/records.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import { isProviderError } from '../ports/models.ts';
import type { LeasedJob, NewJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { TextExtractor } from '../ports/text-extractor.ts';
import type { VectorIndex } from '../ports/vectors.ts';
import { splitText } from './chunks.ts';
import { holdVectors, type LakeEmbeddingServices, lakeModel, modelOfLake } from './embedding.ts';
import { tagOf } from './lakes.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './records.ts';
import { type TakeOutServices, takeOut } from './taking-out.ts';
import { distinctWords } from './words.ts';

const KIND = 'data-lakes.ingest';
const CONCURRENCY = 4;
/** Chunks embedded in one paid call. */
const BATCH = 64;
const MOST_CHUNKS = 20_000;
const MOST_BYTES = 100 * 2 ** 20;
const MOST_TAGS = 50;
/** Pauses before a model that gave no answer is asked again; after the last one the file waits for somebody to resume it. */
const PAUSES_MS = [2000, 10_000, 60_000, 300_000];

const UNREADABLE = 'The file can no longer be read.';

export function ingestionJob({ id }: LakeFileRecord): NewJob {
  return { kind: KIND, key: `${KIND}:${id}`, payload: { id } };
}

export interface IngestionServices extends LakeEmbeddingServices, TakeOutServices {
  readonly store: Store;
  readonly library: FileLibrary;
  readonly vectors: VectorIndex;
  readonly extractors: readonly TextExtractor[];
}

/** Why a file goes no further, in words for callers. `paused`: it may, once the reason is gone. */
class Halt extends Error {
  override readonly name = 'Halt';
  readonly status: 'paused' | 'failed';
  constructor(status: 'paused' | 'failed', message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

/**
 * Reads one file into its lake: text, chunks, vectors, batch by batch. What is done is written down after each batch, and
 * a batch done twice leaves the same chunks under the same ids and one charge under one key.
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

  /** Nobody finds what was added for a file that was taken out meanwhile. */
  const takeBack = async ({ id, lakeId }: LakeFileRecord): Promise<void> => {
    if ((await files.get(id)) === undefined) await vectors.remove({ lakeId, fileId: id });
  };

  const run = async (file: LakeFileRecord, lake: LakeRecord, signal: AbortSignal): Promise<void> => {
    if (lake.status === 'archived') throw new Halt('paused', 'The data lake is archived.');
    const entry = await modelFor(services, lake);
    const { chunks, tags } = await readFile(services, file, signal);
    const allTags = [...new Set([tagOf(lake), ...tags])].slice(0, MOST_TAGS);
    let now = file;
    // Another version of this service may have cut it elsewhere: then from the beginning.
    if (file.chunkCount !== chunks.length) {
      if (file.vectorizedCount > 0) await vectors.remove({ lakeId: lake.id, fileId: file.id });
      const counted = await change(file, { chunkCount: chunks.length, vectorizedCount: 0 });
      if (counted === undefined) return takeBack(file);
      now = counted;
    }
    while (now.vectorizedCount < chunks.length) {
      signal.throwIfAborted();
      const place = now.vectorizedCount;
      const texts = chunks.slice(place, place + BATCH);
      const held = await holdVectors(
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
      );
      await vectors.upsert(
        texts.map((text, index) => ({
          id: `${file.id}:${place + index}`,
          lakeId: lake.id,
          fileId: file.id,
          place: place + index,
          text,
          tags: allTags,
          words: distinctWords(text),
          vector: held.vectors[index] ?? [],
        })),
      );
      await held.settle();
      const further = await change(now, { vectorizedCount: place + texts.length });
      if (further === undefined) return takeBack(file);
      now = further;
    }
    if ((await change(now, { status: 'ready', error: undefined })) === undefined) return takeBack(file);
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
        const halt = haltOf(error);
        if (halt === undefined) throw error;
        // It was deleted as it was added: whoever cleared up after it may not have seen it here.
        if (halt.message === UNREADABLE && (await sources.get(file.fileId)) === undefined) {
          await takeOut(services, file);
          return undefined;
        }
        // The hold was given back: a new try must find nothing under its key.
        const tries = { tries: file.tries + 1 };
        const again = halt.status === 'paused' ? pauseOf(job, error) : undefined;
        if (again !== undefined) await change(file, tries);
        else await change(file, { ...tries, status: halt.status, error: halt.message });
        if (halt.cause !== undefined)
          services.onError({ operation: `job:${KIND}`, requestId: file.requestId, error: halt.cause });
        return again;
      }
    },
  };
}

/** The lake's model; the first file that is read chooses it. */
async function modelFor(services: IngestionServices, lake: LakeRecord): Promise<CatalogueEntry> {
  const wanted = modelOfLake(services, lake);
  if (wanted === undefined) throw new Halt('paused', 'There is no embedding model.');
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
  { library, extractors }: IngestionServices,
  file: LakeFileRecord,
  signal: AbortSignal,
): Promise<{ chunks: readonly string[]; tags: readonly string[] }> {
  const about = await library.get(file.addedBy, file.fileId);
  const bytes = about && (await library.read(file.addedBy, file.fileId, MOST_BYTES, { signal }));
  if (about === undefined || bytes === undefined) throw new Halt('failed', UNREADABLE);
  const type = { mimeType: about.mimeType, name: about.name };
  const extractor = extractors.find((one) => one.reads(type));
  if (extractor === undefined)
    throw new Halt('failed', `Files of the type ${about.mimeType} have no text that is read.`);
  const { text, tags = [] } = await extractor.extract(bytes, type, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Halt('failed', `The file could not be read as ${about.mimeType}.`, error);
  });
  const chunks = await splitText(text.toWellFormed(), { most: MOST_CHUNKS, signal });
  if (chunks.length === 0) throw new Halt('failed', 'There is no text in the file.');
  if (chunks.length > MOST_CHUNKS) throw new Halt('failed', 'The file has more text than a data lake takes.');
  return { chunks, tags };
}

/** @returns undefined for what is nobody's fault here: the job is done again. */
function haltOf(error: unknown): Halt | undefined {
  if (error instanceof Halt) return error;
  if (isApiError(error) && error.status === 422) return new Halt('paused', error.message);
  if (!isProviderError(error)) return undefined;
  switch (error.kind) {
    case 'invalid_request':
    case 'context_length':
    case 'content_blocked':
      return new Halt('failed', 'The embedding model refused the text of this file.', error);
    case 'rejected_key':
    case 'not_configured':
      return new Halt('paused', 'The embedding model cannot be reached with the keys there are.', error);
    default:
      return new Halt('paused', 'The embedding model did not answer.', error);
  }
}

/** A provider that is down for a moment is asked again before the file waits for somebody. */
function pauseOf({ attempt }: LeasedJob, error: unknown): RunAgain | undefined {
  if (!isProviderError(error) || !['overloaded', 'timeout', 'failed'].includes(error.kind)) return undefined;
  const afterMs = PAUSES_MS[attempt - 1];
  return afterMs === undefined
    ? undefined
    : { afterMs: Math.max(afterMs, error.retryAfterMs ?? 0), countAttempt: true };
}
