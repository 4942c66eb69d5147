import * as z from 'zod';
import { pageQuery } from '../http/cursor.ts';
import { idParams } from '../http/identifiers.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

const listed = z.object({
  id: z.string(),
  file_name: z.string(),
  mime_type: z.string(),
  file_size: z.number().int(),
  moderation_status: z
    .enum(['pending', 'scanning', 'clean', 'blocked'])
    .meta({ description: 'Only a clean file may be read and passed to other operations.' }),
  created_at: z.iso.datetime(),
});

export const file = listed.extend({
  download_url: z
    .string()
    .nullable()
    .meta({ description: 'Once clean. Good for 15 minutes, and made anew.' }),
  download_url_expires_at: z.iso.datetime().nullable(),
});

export type WireFile = z.input<typeof file>;
export type WireListedFile = z.input<typeof listed>;

const fileName = text({ min: 1, max: 255 });

const common = {
  tag: 'Files',
  auth: 'key-or-token',
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'File',
} as const;

const read = { ...common, scopes: ['files:read', 'files:write'] } as const;
const write = { ...common, scopes: ['files:write'] } as const;

export const listFiles = defineOperation({
  ...read,
  id: 'listFiles',
  method: 'GET',
  path: '/api/v1/files',
  summary: "List the caller's files, oldest first",
  owner: 'caller',
  input: {
    query: pageQuery.extend({
      search: text({ max: 200 }).optional().meta({ description: 'Part of the name.' }),
    }),
  },
  output: {
    200: {
      description: 'A page of files.',
      schema: z.object({ data: z.array(listed), next_cursor: z.string().nullable() }),
    },
  },
});

export const createFileUpload = defineOperation({
  ...write,
  id: 'createFileUpload',
  method: 'POST',
  path: '/api/v1/files',
  summary: 'Announce a file, and get an address to upload it to',
  description:
    'PUT the raw bytes to `upload_url` within 10 minutes, with the announced type as `Content-Type` and without any ' +
    'credential; exactly the announced number of bytes, once. Then poll the file until its `moderation_status` is ' +
    '`clean` or `blocked`.',
  owner: 'caller',
  input: {
    body: z.strictObject({
      file_name: fileName,
      mime_type: text({ min: 1, max: 255 }),
      file_size: z.number().int().min(1).meta({ description: 'Bytes.' }),
    }),
  },
  output: {
    201: {
      description: 'Where to send it.',
      schema: z.object({
        id: z.string(),
        upload_url: z.string(),
        upload_url_expires_at: z.iso.datetime(),
      }),
    },
  },
  refusals: [{ status: 400, description: 'A type that is not accepted, too large, or no room for it.' }],
});

export const getFile = defineOperation({
  ...read,
  id: 'getFile',
  method: 'GET',
  path: '/api/v1/files/{id}',
  summary: 'Read a file: its state, and a link to its bytes',
  rate: { key: 'day-exempt', user: 'unlimited' },
  input: { params: idParams },
  output: { 200: { description: 'The file.', schema: file } },
});

export const updateFile = defineOperation({
  ...write,
  id: 'updateFile',
  method: 'PATCH',
  path: '/api/v1/files/{id}',
  summary: 'Rename a file, or note something about it',
  input: {
    params: idParams,
    body: z.strictObject({
      file_name: fileName.optional(),
      notes: text({ max: 10_000 }).optional().meta({ description: 'Written, never shown.' }),
    }),
  },
  output: { 200: { description: 'The file as it is now.', schema: file } },
});

export const deleteFile = defineOperation({
  ...write,
  id: 'deleteFile',
  method: 'DELETE',
  path: '/api/v1/files/{id}',
  summary: "Delete a file; of somebody else's, only the caller's share in it",
  input: { params: idParams },
  output: { 204: { description: 'It is gone.' } },
});
