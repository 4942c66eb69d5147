import { ApiError, notFound } from '../errors.ts';
import { decodeCursor, encodeCursor, pageOf } from '../http/cursor.ts';
import type { ObjectLinks } from '../objects/links.ts';
import type { PipelineServices } from '../pipeline.ts';
import type { ObjectStore } from '../ports/objects.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { jsonReply } from '../reply.ts';
import { defineRoute, type Route } from '../route.ts';
import type { Switches } from '../settings/admin.ts';
import { canRead, canWrite } from '../sharing/access.ts';
import { createFileUpload, deleteFile, getFile, listFiles, updateFile } from './contract.ts';
import type { FileLibrary } from './library.ts';
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
  readonly switches: Switches;
  readonly fileSettings: FileSettings;
}

const UPLOAD_MS = 10 * 60_000;

/** All of `/api/v1/files`. */
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
    const { limit, cursor, search = '' } = query;
    const ownerId = caller.userId;
    const after = decodeCursor(listFiles.id, ownerId, cursor);
    const rows = await files.find(
      { ownerId, ...(search !== '' && { name: { contains: search } }) },
      {
        order: { field: 'createdAt', direction: 'asc' },
        limit: limit + 1,
        ...(after !== undefined && { after }),
      },
    );
    return pageOf(rows, limit, toWireListedFile, ({ id, createdAt }) =>
      encodeCursor(listFiles.id, ownerId, { value: createdAt, id }),
    );
  });
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
    const terms = { key: quarantineKey(file.id), contentType: mimeType, size, expiresAt: now + UPLOAD_MS };
    const upload = await objectLinks.put(terms, mountPath);
    // First: a file that nobody looks after would take up room for ever.
    await queue.enqueue(watchJob(file));
    await store.transaction(async (inside) => {
      if (!(await takeRoom(inside, file.ownerId, size, services.fileSettings.storageQuota))) {
        throw new ApiError(400, 'file_size: there is no room left for a file of this size');
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

/** `GET /api/v1/files/{id}` */
export function createGetFileHandler(services: FileServices): Route {
  const { queue, objects, library } = services;
  const files = services.store.collection(FILES);
  return defineRoute(getFile, services, async ({ params }, { caller, mountPath }) => {
    const file = await files.get(params.id, canRead(caller.userId));
    if (file === undefined) throw notFound('File');
    // Such a store tells nobody that an upload has come. Whoever asks wants to know now.
    const isAwaited = file.status === 'pending' && objects.signPut !== undefined;
    if (isAwaited && (await objects.head(quarantineKey(file.id))) !== undefined) {
      await queue.enqueue(scanJob(file.id));
    }
    return toWireFile(file, await library.link(file, mountPath));
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
    return toWireFile(file, await services.library.link(file, mountPath));
  });
}

/** `DELETE /api/v1/files/{id}` */
export function createDeleteFileHandler(services: FileServices): Route {
  const { store, queue, objects } = services;
  const files = store.collection(FILES);
  return defineRoute(deleteFile, services, async ({ params }, { caller }) => {
    const { userId } = caller;
    const file = await files.get(params.id, canRead(userId));
    if (file === undefined) throw notFound('File');
    if (file.ownerId !== userId) {
      await dropShare(store, file.id, userId);
      return undefined;
    }
    // What is left behind is cleared away by a job, written down first: it finds nothing to do while the file stands.
    await queue.enqueue(purgeFileJob(file));
    const taken = await store.transaction(async (inside) => {
      const gone = await inside.collection(FILES).take(file.id, { ownerId: userId });
      if (gone !== undefined && gone.status !== 'blocked') await giveRoomBack(inside, userId, gone.size);
      return gone;
    });
    if (taken === undefined) throw notFound('File');
    // It became clean in this very moment.
    if (taken.objectKey !== undefined && file.objectKey === undefined) await objects.remove(taken.objectKey);
    return undefined;
  });
}

/** Whoever a file is shared with can leave it, and nothing else of it changes. */
function dropShare(store: FileServices['store'], id: string, userId: string): Promise<void> {
  return store.transaction(async (inside) => {
    const files = inside.collection(FILES);
    const file = await files.get(id, canRead(userId));
    if (file === undefined) return;
    const without = (ids: readonly string[] = []) => ids.filter((other) => other !== userId);
    await files.update(id, { readerIds: without(file.readerIds), writerIds: without(file.writerIds) });
  });
}
