import { getPayer } from '../../contract/call.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Store } from '../../ports/store.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import type { FileLibrary } from '../files/library.ts';
import type { AttachableFile, FilesReader } from '../files/reader.ts';
import type { AdministrationCheck, MembershipCheck } from '../organizations/membership.ts';
import { type StorageQuotas, takeStorage } from '../storage/usage.ts';
import { readableLake, requireDataLakes, writableLake } from './access.ts';
import { addDataLakeFile, getDataLakeFile, listDataLakeFiles, removeDataLakeFile } from './contract.ts';
import { ingestionJob, LAKE_ARCHIVED } from './ingestion.ts';
import { LAKE_FILES, LAKES, type LakeFileRecord, type LakeRecord } from './records.ts';
import { removeFile } from './remove-file.ts';

export interface LakeFileServices extends PipelineServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly adminSettings: AdminSettingsReader;
  readonly isMember: MembershipCheck;
  readonly administers: AdministrationCheck;
  readonly files: FilesReader;
  readonly library: FileLibrary;
  readonly storageQuotas: StorageQuotas;
}

/** `GET /api/v1/data-lakes/{id}/files/{file_id}` */
export function createGetLakeFileHandler(services: LakeFileServices): Route {
  const lakeFiles = services.store.collection(LAKE_FILES);
  return defineRoute(getDataLakeFile, services, async ({ params }, { caller }) => {
    await requireDataLakes(services.adminSettings);
    const lake = await readableLake(services, caller.userId, params.id);
    if (lake === undefined) throw notFound('Data lake');
    const [known] = await lakeFiles.find({ lakeId: lake.id, fileId: params.file_id }, { limit: 1 });
    // A file in a lake is read with the rights of the user who added it. A deleted file is hidden even before its job runs.
    const file = await services.files.find(known?.addedBy ?? caller.userId, params.file_id);
    if (file === undefined) throw notFound('File');
    return toWireLakeFile(lake, file, known);
  });
}

/** `GET /api/v1/data-lakes/{id}/files` */
export function createListLakeFilesHandler(services: LakeFileServices): Route {
  const lakeFiles = services.store.collection(LAKE_FILES);
  return defineRoute(listDataLakeFiles, services, async ({ params, query }, { caller }) => {
    await requireDataLakes(services.adminSettings);
    const lake = await readableLake(services, caller.userId, params.id);
    if (lake === undefined) throw notFound('Data lake');
    const page = await findPage(
      lakeFiles,
      { lakeId: lake.id },
      {
        list: `${listDataLakeFiles.id}:${lake.id}`,
        owner: caller.userId,
        query,
        order: { field: 'createdAt', direction: 'asc' },
      },
      (row) => row,
    );
    const files = await services.files.findFor(
      page.data.map(({ fileId, addedBy }) => ({ id: fileId, userId: addedBy })),
    );
    // A deleted file is hidden even before its job runs.
    const data = page.data.flatMap((row) => {
      const file = files.get(row.fileId);
      return file === undefined ? [] : [toWireLakeFile(lake, file, row)];
    });
    return { data, next_cursor: page.next_cursor };
  });
}

function toWireLakeFile({ id }: LakeRecord, file: AttachableFile, known: LakeFileRecord | undefined) {
  return {
    lake_id: id,
    file_id: file.id,
    file_name: file.name,
    ingestion_status: known?.status ?? ('not_ingested' as const),
    chunk_count: known?.chunkCount ?? 0,
    vectorized_chunk_count: known?.vectorizedCount ?? 0,
    error: known?.error ?? null,
  };
}

/** `POST /api/v1/data-lakes/{id}/files/{file_id}` */
export function createAddLakeFileHandler(services: LakeFileServices): Route {
  const { store, clock, ids, queue, adminSettings } = services;
  const lakeFiles = store.collection(LAKE_FILES);
  return defineRoute(addDataLakeFile, services, async ({ params }, { caller, requestId }) => {
    await requireDataLakes(adminSettings);
    const lake = await writableLake(services, caller.userId, params.id);
    const [known] = await lakeFiles.find({ lakeId: lake.id, fileId: params.file_id }, { limit: 1 });
    if (known !== undefined && (await services.files.find(known.addedBy, known.fileId)) !== undefined) {
      await goOn(lake, known);
      return getContents(lake, known.fileId);
    }
    const found = await services.files.find(caller.userId, params.file_id);
    if (found === undefined) throw notFound('File');
    const file = await services.library.get(caller.userId, params.file_id);
    if (file === undefined) {
      throw new ApiError(422, 'A file that is not clean cannot be added', { code: 'unsupported_input' });
    }
    // The user who added it has lost access.
    if (known !== undefined) await removeFile(services, known);
    const now = clock.now();
    const record: LakeFileRecord = {
      id: ids.next(),
      lakeId: lake.id,
      fileId: file.id,
      addedBy: caller.userId,
      payer: getPayer(caller),
      requestId,
      size: file.size,
      countedTo: lake.ownerId,
      ...(lake.status === 'archived' ? { status: 'paused', error: LAKE_ARCHIVED } : { status: 'indexing' }),
      chunkCount: 0,
      vectorizedCount: 0,
      tries: 0,
      createdAt: now,
      updatedAt: now,
    };
    const grown = await store.transaction(async (inside) => {
      const inLake = { ownerId: lake.ownerId, status: { not: 'deleting' as const } };
      if (!(await inside.collection(LAKE_FILES).insert(record))) return inside.collection(LAKES).get(lake.id);
      const amount = { ownerId: lake.ownerId, kind: 'lakes', bytes: file.size } as const;
      await takeStorage(inside, amount, services.storageQuotas);
      const more = { fileCount: 1, totalSize: file.size };
      const after = await inside.collection(LAKES).add(lake.id, more, inLake);
      if (after === undefined) throw notFound('Data lake');
      const change = { ...(after.status === 'draft' && { status: 'active' as const }), updatedAt: now };
      return inside.collection(LAKES).update(lake.id, change, inLake);
    });
    // Enqueued again on repetition: the job finds nothing to do for a file that another user added.
    if (record.status === 'indexing') await queue.enqueue(ingestionJob(record));
    return getContents(grown ?? lake, file.id);
  });

  /** Retries a file whose reason to stop may be gone. */
  async function goOn(lake: LakeRecord, { id, lakeId, status }: LakeFileRecord): Promise<void> {
    if (lake.status === 'archived' || (status !== 'paused' && status !== 'failed')) return;
    const change = { status: 'indexing', error: undefined, updatedAt: clock.now() } as const;
    const resumed = await lakeFiles.update(id, change, { lakeId, status });
    if (resumed !== undefined) await queue.enqueue(ingestionJob(resumed));
  }
}

/** `DELETE /api/v1/data-lakes/{id}/files/{file_id}` */
export function createRemoveLakeFileHandler(services: LakeFileServices): Route {
  const { store, adminSettings } = services;
  const lakeFiles = store.collection(LAKE_FILES);
  return defineRoute(removeDataLakeFile, services, async ({ params }, { caller }) => {
    await requireDataLakes(adminSettings);
    const lake = await writableLake(services, caller.userId, params.id);
    const [known] = await lakeFiles.find({ lakeId: lake.id, fileId: params.file_id }, { limit: 1 });
    if (known === undefined) return getContents(lake, params.file_id);
    const shrunk = await removeFile(services, known);
    return getContents(shrunk ?? lake, known.fileId);
  });
}

function getContents({ id, fileCount, totalSize }: LakeRecord, fileId: string) {
  return { lake_id: id, file_id: fileId, file_count: fileCount, total_size_bytes: totalSize };
}
