import { canRead, canWrite, sharedAs, whose } from '../../access/access.ts';
import { jsonReply } from '../../contract/reply.ts';
import type { AdminSettingsReader } from '../../operations/admin-settings.ts';
import { findPage } from '../../operations/find-page.ts';
import type { PipelineServices } from '../../operations/pipeline.ts';
import type { RemovalCheck } from '../../operations/retention.ts';
import { defineRoute, type Route } from '../../operations/route.ts';
import type { ObjectStore } from '../../ports/objects.ts';
import type { JobQueue } from '../../ports/queue.ts';
import type { Filter, Store } from '../../ports/store.ts';
import { ApiError, notFound } from '../../shared/errors.ts';
import { createFileUpload, deleteFile, getFile, listFiles, updateFile } from './contract.ts';
import type { FileLibrary } from './library.ts';
import type { ObjectLinks } from './objects-links.ts';
import { purgeFileJob } from './purge.ts';
import { FILES, type FileRecord } from './records.ts';
import type { FileSettings } from './settings.ts';
import { checkAnnounced, quarantineKey, scanJob } from './uploads.ts';
import { giveRoomBack, takeRoom } from './usage.ts';
import { watchJob } from './watch.ts';
import { toWireFile, toWireListedFile } from './wire.ts';

export interface FileServices extends PipelineServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly objects: ObjectStore;
  readonly objectLinks: ObjectLinks;
  readonly library: FileLibrary;
  readonly adminSettings: AdminSettingsReader;
  readonly fileSettings: FileSettings;
}

const UPLOAD_MS = 10 * 60_000;

/** All handlers of `/api/v1/files`. */
export function fileRoutes(services: FileServices): Route[] {
  return [
    createListFilesHandler(services),
    createCreateFileUploadHandler(services),
    createGetFileHandler(services),
    createUpdateFileHandler(services),
    createDeleteFileHandler(services),
  ];
}

/** `GET /api/v1/files` */
export function createListFilesHandler(services: FileServices): Route {
  const files = services.store.collection(FILES);
  return defineRoute(listFiles, services, async ({ query }, { caller }) => {
    const { search = '', shared } = query;
    const { userId } = caller;
    return findPage(
      files,
      { ...whose(userId, shared), ...(search !== '' && { name: { contains: search } }) },
      { list: listFiles.id, owner: userId, query, order: { field: 'createdAt', direction: 'asc' } },
      (row) => ({ ...toWireListedFile(row), ...sharedAs(row, userId, shared) }),
    );
  });
}

/** A user's own files, with a text in the name if one is given. */
export function ownFiles(ownerId: string, search = ''): Filter<FileRecord> {
  return { ownerId, ...(search !== '' && { name: { contains: search } }) };
}

/** `POST /api/v1/files` */
export function createCreateFileUploadHandler(services: FileServices): Route {
  const { store, queue, objectLinks, clock, ids } = services;
  return defineRoute(createFileUpload, services, async ({ body }, { caller, mountPath }) => {
    const { file_name: name, file_size: size } = body;
    const mimeType = await checkAnnounced(services, body.mime_type, size);
    const now = clock.now();
    const file: FileRecord = {
      id: ids.next(),
      ownerId: caller.userId,
      name,
      mimeType,
      size,
      status: 'pending',
      source: 'upload',
      createdAt: now,
      uploadUntil: now + UPLOAD_MS,
    };
    const options = { key: quarantineKey(file.id), contentType: mimeType, size, expiresAt: now + UPLOAD_MS };
    const upload = await objectLinks.put(options, mountPath);
    // First: a file without this job would occupy the quota forever.
    await queue.enqueue(watchJob(file));
    await store.transaction(async (inside) => {
      if (!(await takeRoom(inside, file.ownerId, size, services.fileSettings.storageQuota))) {
        throw new ApiError(400, 'file_size: the storage quota has no room for a file of this size');
      }
      await inside.collection(FILES).insert(file);
    });
    return jsonReply(201, {
      id: file.id,
      upload_url: upload.url,
      upload_url_expires_at: new Date(upload.expiresAt).toISOString(),
    });
  });
}

/** `GET /api/v1/files/{id}`. @param operation the same at another path. */
export function createGetFileHandler(services: FileServices, operation: typeof getFile = getFile): Route {
  const { queue, objects, library } = services;
  const files = services.store.collection(FILES);
  return defineRoute(operation, services, async ({ params }, { caller, mountPath }) => {
    const file = await files.get(params.id, canRead(caller.userId));
    if (file === undefined) throw notFound('File');
    // Such a store reports no uploads: each read checks for the upload.
    const isAwaited = file.status === 'pending' && objects.signPut !== undefined;
    if (isAwaited && (await objects.head(quarantineKey(file.id))) !== undefined) {
      await queue.enqueue(scanJob(file));
    }
    return toWireFile(file, await library.link(file, mountPath), caller.userId);
  });
}

/** `PATCH /api/v1/files/{id}` */
export function createUpdateFileHandler(services: FileServices): Route {
  const files = services.store.collection(FILES);
  return defineRoute(updateFile, services, async ({ params, body }, { caller, mountPath }) => {
    const { file_name: name, notes } = body;
    const patch = { ...(name !== undefined && { name }), ...(notes !== undefined && { notes }) };
    const file = await files.update(params.id, patch, canWrite(caller.userId));
    if (file === undefined) throw notFound('File');
    return toWireFile(file, await services.library.link(file, mountPath), caller.userId);
  });
}

/** `DELETE /api/v1/files/{id}` */
export function createDeleteFileHandler(services: FileServices): Route {
  return defineRoute(deleteFile, services, async ({ params }, { caller }) => {
    await removeFile(services, params.id, caller.userId);
    return undefined;
  });
}

/** Deletes a file of the user, or leaves a share. @throws ApiError 404. */
export async function removeFile(
  { store, queue, objects }: Pick<FileServices, 'store' | 'queue' | 'objects'>,
  id: string,
  userId: string,
): Promise<void> {
  const file = await store.collection(FILES).get(id, canRead(userId));
  if (file === undefined) throw notFound('File');
  if (file.ownerId !== userId) return dropShare(store, file.id, userId);
  if ((await takeFile({ store, queue, objects }, file)) === undefined) throw notFound('File');
}

/** Deletes a file; a job deletes its bytes. @returns undefined if it is gone, does not match the guard or is in use. */
export async function takeFile(
  { store, queue, objects }: Pick<FileServices, 'store' | 'queue' | 'objects'>,
  file: FileRecord,
  { guard, isInUse }: { readonly guard?: Filter<FileRecord> } & Partial<Pick<RemovalCheck, 'isInUse'>> = {},
): Promise<FileRecord | undefined> {
  const { id, ownerId } = file;
  // The purge job is enqueued before the deletion: it does nothing while the file exists.
  await queue.enqueue(purgeFileJob(file));
  const taken = await store.transaction(async (inside) => {
    if (isInUse !== undefined && (await isInUse(inside))) return undefined;
    const gone = await inside.collection(FILES).take(id, { ...guard, ownerId });
    if (gone !== undefined && gone.status !== 'blocked') await giveRoomBack(inside, ownerId, gone.size);
    return gone;
  });
  // The file became clean concurrently.
  if (taken?.objectKey !== undefined && file.objectKey === undefined) await objects.remove(taken.objectKey);
  return taken;
}

/** A user with a share can leave it; the file itself does not change. */
function dropShare(store: FileServices['store'], id: string, userId: string): Promise<void> {
  return store.transaction(async (inside) => {
    const files = inside.collection(FILES);
    const file = await files.get(id, canRead(userId));
    if (file === undefined) return;
    const without = (ids: readonly string[] = []) => ids.filter((other) => other !== userId);
    await files.update(id, { readerIds: without(file.readerIds), writerIds: without(file.writerIds) });
  });
}
