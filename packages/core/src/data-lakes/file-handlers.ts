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
import { addDataLakeFile, getDataLakeFile, removeDataLakeFile } from './contract.ts';
import { ingestionJob } from './ingestion.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './records.ts';
import { takeOut } from './taking-out.ts';

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
    const [known] = await lakeFiles.find({ lakeId: lake.id, fileId: params.file_id }, { limit: 1 });
    // A lake has a file with the rights of whoever added it. A deleted one is not there, though the job may not have come.
    const file = await services.files.find(known?.addedBy ?? caller.userId, params.file_id);
    if (file === undefined) throw notFound('File');
    return {
      lake_id: lake.id,
      file_id: file.id,
      file_name: file.name,
      ingestion_status: known?.status ?? ('not_ingested' as const),
      chunk_count: known?.chunkCount ?? 0,
      vectorized_chunk_count: known?.vectorizedCount ?? 0,
      error: known?.error ?? null,
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
    if (known !== undefined && (await services.files.find(known.addedBy, known.fileId)) !== undefined) {
      await goOn(lake, known);
      return contentsOf(lake, known.fileId);
    }
    const found = await services.files.find(caller.userId, params.file_id);
    if (found === undefined) throw notFound('File');
    const file = await services.library.get(caller.userId, params.file_id);
    if (file === undefined) {
      throw new ApiError(422, 'A file that is not clean cannot be added', { code: 'unsupported_input' });
    }
    // Whoever added it cannot read it any more.
    if (known !== undefined) await takeOut(services, known);
    const now = clock.now();
    const record: LakeFileRecord = {
      id: ids.next(),
      lakeId: lake.id,
      fileId: file.id,
      addedBy: caller.userId,
      payer: payerOf(caller),
      requestId,
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
  const { store, switches } = services;
  const lakeFiles = store.collection(LAKE_FILES);
  return defineRoute(removeDataLakeFile, services, async ({ params }, { caller }) => {
    await requireDataLakes(switches);
    const lake = await writableLake(services, caller.userId, params.id);
    const [known] = await lakeFiles.find({ lakeId: lake.id, fileId: params.file_id }, { limit: 1 });
    if (known === undefined) return contentsOf(lake, params.file_id);
    const shrunk = await takeOut(services, known);
    return contentsOf(shrunk ?? lake, known.fileId);
  });
}

function contentsOf({ id, fileCount, totalSize }: LakeRecord, fileId: string) {
  return { lake_id: id, file_id: fileId, file_count: fileCount, total_size_bytes: totalSize };
}
