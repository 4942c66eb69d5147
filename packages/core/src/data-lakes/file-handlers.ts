import { payerOf } from '../call.ts';
import { ApiError, notFound } from '../errors.ts';
import type { FileLibrary } from '../files/library.ts';
import type { FilesReader } from '../files/reader.ts';
import type { AdministrationCheck, MembershipCheck } from '../organizations/membership.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Switches } from '../settings/admin.ts';
import { readableLake, requireDataLakes, writableLake } from './access.ts';
import { addDataLakeFile, getDataLakeFile, removeDataLakeFile, type WireLakeFile } from './contract.ts';
import { ingestionJob } from './ingestion.ts';
import { forgetFileJob } from './purge.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './records.ts';

export interface LakeFileServices extends PipelineServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly switches: Switches;
  readonly isMember: MembershipCheck;
  readonly administers: AdministrationCheck;
  readonly files: FilesReader;
  readonly library: FileLibrary;
}

/** `GET /api/v1/data-lakes/{id}/files/{file_id}` */
export function createGetLakeFileHandler(services: LakeFileServices): Route {
  const lakeFiles = services.store.collection(LAKE_FILES);
  return defineRoute(getDataLakeFile, services, async ({ params }, { caller }) => {
    await requireDataLakes(services.switches);
    const lake = await readableLake(services, caller.userId, params.id);
    if (lake === undefined) throw notFound('Data lake');
    const [found] = await lakeFiles.find({ lakeId: lake.id, fileId: params.file_id }, { limit: 1 });
    if (found !== undefined) return toWireLakeFile(found);
    const file = await services.files.find(caller.userId, params.file_id);
    if (file === undefined) throw notFound('File');
    return {
      lake_id: lake.id,
      file_id: file.id,
      file_name: file.name,
      ingestion_status: 'not_ingested' as const,
      chunk_count: 0,
      vectorized_chunk_count: 0,
      error: null,
    };
  });
}

/** `POST /api/v1/data-lakes/{id}/files/{file_id}` */
export function createAddLakeFileHandler(services: LakeFileServices): Route {
  const { store, clock, ids, queue, switches } = services;
  const lakeFiles = store.collection(LAKE_FILES);
  return defineRoute(addDataLakeFile, services, async ({ params }, { caller, requestId }) => {
    await requireDataLakes(switches);
    const lake = await writableLake(services, caller.userId, params.id);
    const [known] = await lakeFiles.find({ lakeId: lake.id, fileId: params.file_id }, { limit: 1 });
    if (known !== undefined) {
      await goOn(lake, known);
      return contentsOf(lake, known.fileId);
    }
    const found = await services.files.find(caller.userId, params.file_id);
    if (found === undefined) throw notFound('File');
    const file = await services.library.get(caller.userId, params.file_id);
    if (file === undefined) {
      throw new ApiError(422, 'A file that is not clean cannot be added', { code: 'unsupported_input' });
    }
    const now = clock.now();
    const record: LakeFileRecord = {
      id: ids.next(),
      lakeId: lake.id,
      fileId: file.id,
      addedBy: caller.userId,
      payer: payerOf(caller),
      requestId,
      name: file.name,
      size: file.size,
      status: lake.status === 'archived' ? 'paused' : 'indexing',
      chunkCount: 0,
      vectorizedCount: 0,
      tries: 0,
      createdAt: now,
      updatedAt: now,
    };
    const grown = await store.transaction(async (inside) => {
      const inLake = { ownerId: lake.ownerId, status: { not: 'deleting' as const } };
      if (!(await inside.collection(LAKE_FILES).insert(record))) return inside.collection(LAKES).get(lake.id);
      const more = { fileCount: 1, totalSize: file.size };
      const after = await inside.collection(LAKES).add(lake.id, more, inLake);
      if (after === undefined) throw notFound('Data lake');
      const change = { ...(after.status === 'draft' && { status: 'active' as const }), updatedAt: now };
      return inside.collection(LAKES).update(lake.id, change, inLake);
    });
    // Twice is not too often: a job of a file that somebody else added finds nothing to do.
    if (record.status === 'indexing') await queue.enqueue(ingestionJob(record));
    return contentsOf(grown ?? lake, file.id);
  });

  /** What stopped for a reason that may be gone is tried again. */
  async function goOn(lake: LakeRecord, { id, lakeId, status }: LakeFileRecord): Promise<void> {
    if (lake.status === 'archived' || (status !== 'paused' && status !== 'failed')) return;
    const change = { status: 'indexing', error: undefined, updatedAt: clock.now() } as const;
    const resumed = await lakeFiles.update(id, change, { lakeId, status });
    if (resumed !== undefined) await queue.enqueue(ingestionJob(resumed));
  }
}

/** `DELETE /api/v1/data-lakes/{id}/files/{file_id}` */
export function createRemoveLakeFileHandler(services: LakeFileServices): Route {
  const { store, clock, queue, switches } = services;
  const lakeFiles = store.collection(LAKE_FILES);
  return defineRoute(removeDataLakeFile, services, async ({ params }, { caller }) => {
    await requireDataLakes(switches);
    const lake = await writableLake(services, caller.userId, params.id);
    const [known] = await lakeFiles.find({ lakeId: lake.id, fileId: params.file_id }, { limit: 1 });
    if (known === undefined) return contentsOf(lake, params.file_id);
    // Written down first: what the index holds must go even when this process ends in between.
    await queue.enqueue(forgetFileJob(known, clock.now()));
    const shrunk = await store.transaction(async (inside) => {
      const taken = await inside.collection(LAKE_FILES).take(known.id, { lakeId: lake.id });
      if (taken === undefined) return inside.collection(LAKES).get(lake.id);
      const less = { fileCount: -1, totalSize: -taken.size };
      await inside.collection(LAKES).add(lake.id, less, { ownerId: lake.ownerId });
      const change = { updatedAt: clock.now() };
      return inside.collection(LAKES).update(lake.id, change, { ownerId: lake.ownerId });
    });
    return contentsOf(shrunk ?? lake, known.fileId);
  });
}

function contentsOf({ id, fileCount, totalSize }: LakeRecord, fileId: string) {
  return { lake_id: id, file_id: fileId, file_count: fileCount, total_size_bytes: totalSize };
}

function toWireLakeFile(file: LakeFileRecord): WireLakeFile {
  return {
    lake_id: file.lakeId,
    file_id: file.fileId,
    file_name: file.name,
    ingestion_status: file.status,
    chunk_count: file.chunkCount,
    vectorized_chunk_count: file.vectorizedCount,
    error: file.error ?? null,
  };
}
