import { ApiError, defineOperation, defineRoute, jsonReply, Reply, type Route } from '@questline/core';
import {
  attachmentDisposition,
  type Call,
  checkAnnounced,
  FILES,
  type FileRecord,
  type FileServices,
  isId,
  removeFile,
} from '@questline/core/internal';
import * as z from 'zod';
import { issue, openAIErrors, unsupported } from './errors.ts';
import { readWholeForm } from './form.ts';

/* By the types of the npm package `openai` 7.57.0 (13 November 2026). Files are those of `/api/v1/files`. */

export type FileRouteServices = FileServices;

/** 50 MiB: larger files are uploaded with `/api/v1/files`. */
const MAX_UPLOAD_BYTES = 50 * 2 ** 20;
const PURPOSES: readonly string[] = ['assistants', 'user_data', 'vision', 'evals'];
const STATES = { pending: 'uploaded', scanning: 'uploaded', clean: 'processed', blocked: 'error' } as const;

const common = {
  auth: 'key-or-token',
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller',
  family: 'public',
  subject: 'File',
  errorFormat: openAIErrors,
} as const;

const read = { ...common, method: 'GET', scopes: ['files:read', 'files:write'] } as const;
const params = z.object({ id: z.string().refine(isId) });

const createFile = defineOperation({
  ...common,
  id: 'createOpenAIFile',
  counterpart: 'createFileUpload',
  method: 'POST',
  path: '/v1/files',
  summary: 'Upload a file',
  scopes: ['files:write'],
  bodyType: 'multipart',
  bodyLimit: MAX_UPLOAD_BYTES,
  input: {},
  output: { 200: { description: 'The file. It can be used once it is moderated.' } },
});

const listFiles = defineOperation({
  ...read,
  id: 'listOpenAIFiles',
  counterpart: 'listFiles',
  path: '/v1/files',
  summary: 'List files',
  input: {
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1000).default(100),
      order: z.enum(['asc', 'desc']).default('desc'),
      after: z.string().optional(),
    }),
  },
  output: { 200: { description: 'The files of the caller.' } },
});

const getFile = defineOperation({
  ...read,
  id: 'getOpenAIFile',
  counterpart: 'getFile',
  path: '/v1/files/{id}',
  summary: 'Get a file',
  input: { params },
  output: { 200: { description: 'The file.' } },
});

const getContent = defineOperation({
  ...read,
  id: 'getOpenAIFileContent',
  counterpart: 'getFile',
  path: '/v1/files/{id}/content',
  summary: 'Get the content of a file',
  input: { params },
  output: { 200: { description: 'The bytes.' } },
});

const deleteFile = defineOperation({
  ...common,
  id: 'deleteOpenAIFile',
  counterpart: 'deleteFile',
  method: 'DELETE',
  path: '/v1/files/{id}',
  summary: 'Delete a file',
  scopes: ['files:write'],
  input: { params },
  output: { 200: { description: 'The file is deleted.' } },
});

export function fileRoutes(services: FileRouteServices): Route[] {
  const { library } = services;
  const files = services.store.collection(FILES);

  const findOwn = async (id: string, userId: string): Promise<FileRecord> => {
    const file = await files.get(id, { ownerId: userId });
    if (file === undefined) throw new ApiError(404, 'File not found');
    return file;
  };

  return [
    defineRoute(createFile, services, (_input, call) => upload(services, call)),

    defineRoute(listFiles, services, async ({ query: { limit, order, after } }, { caller: { userId } }) => {
      const last =
        after !== undefined && isId(after) ? await files.get(after, { ownerId: userId }) : undefined;
      if (after !== undefined && last === undefined) throw issue('after', 'expected the id of a file');
      const rows = await files.find(
        { ownerId: userId },
        {
          order: { field: 'createdAt', direction: order },
          limit: limit + 1,
          ...(last !== undefined && { after: { value: last.createdAt, id: last.id } }),
        },
      );
      const data = rows.slice(0, limit).map((file) => toWireFile(file));
      return jsonReply(200, {
        object: 'list',
        data,
        has_more: rows.length > limit,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
      });
    }),

    defineRoute(getFile, services, async ({ params: { id } }, { caller }) =>
      jsonReply(200, toWireFile(await findOwn(id, caller.userId))),
    ),

    defineRoute(getContent, services, async ({ params: { id } }, { caller, signal }) => {
      const file = await findOwn(id, caller.userId);
      const content = await library.open(caller.userId, id, { signal });
      if (content === undefined) throw unreadable(file);
      const headers = {
        'Content-Type': 'application/octet-stream',
        'Content-Disposition': attachmentDisposition(file.name),
        'X-Content-Type-Options': 'nosniff',
      };
      return new Reply(200, headers, content.body);
    }),

    defineRoute(deleteFile, services, async ({ params: { id } }, { caller }) => {
      await findOwn(id, caller.userId);
      await removeFile(services, id, caller.userId);
      return jsonReply(200, { id, object: 'file', deleted: true });
    }),
  ];
}

async function upload(services: FileRouteServices, { caller, request, signal }: Call) {
  const { fields, files } = await readWholeForm(request, MAX_UPLOAD_BYTES);
  const { purpose } = fields;
  if (purpose === undefined) throw issue('purpose', 'is required');
  if (!PURPOSES.includes(purpose)) throw unsupported('purpose', `expected one of ${PURPOSES.join(', ')}`);
  const [file] = files.filter(({ field }) => field === 'file');
  if (file === undefined) throw issue('file', 'is required');
  const announced = file.contentType ?? 'application/octet-stream';
  const mimeType = await checkAnnounced(services, announced, file.data.length);
  const saved = await services.library.save(
    caller.userId,
    {
      name: file.filename.slice(0, 255) || 'file',
      mimeType,
      content: file.data,
      isModerated: true,
      source: 'upload',
    },
    { signal },
  );
  if (saved.file !== undefined) return jsonReply(200, toWireFile(saved.file, purpose));
  if (saved.skipped === 'error') throw new ApiError(503, 'The file could not be stored. Try again shortly.');
  throw issue('file', saved.skipped === 'storage_limit' ? 'the storage quota is used up' : 'is too large');
}

/** Clients repeat a 409 at once, which cannot succeed before the moderation has ended, so the status is that of a bad request. */
function unreadable({ status }: FileRecord): ApiError {
  switch (status) {
    case 'pending':
    case 'scanning':
      return new ApiError(400, 'The file is not moderated yet: get the file until its status is processed', {
        extra: { code: 'file_not_ready' },
      });
    case 'blocked':
      return new ApiError(400, 'The file was blocked by moderation', { extra: { code: 'file_blocked' } });
    case 'clean':
      return new ApiError(404, 'File not found');
  }
}

/** The purpose is not stored: it has no meaning here. */
function toWireFile({ id, size, createdAt, name, status }: FileRecord, purpose = 'user_data') {
  return {
    id,
    object: 'file' as const,
    bytes: size,
    created_at: Math.floor(createdAt / 1000),
    filename: name,
    purpose,
    status: STATES[status],
  };
}
