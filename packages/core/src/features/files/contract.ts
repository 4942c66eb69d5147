import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { permission, sharedQuery } from '../../contract/shared.ts';
import { text } from '../../contract/text.ts';

export const listedFile = z.object({
  owner_id: z.string().describe('The id of the owner.'),
  id: z.string().describe('The id of the file.'),
  file_name: z.string().describe('The file name.'),
  mime_type: z.string().describe('The media type of the content.'),
  file_size: z.number().int().describe('The size in bytes.'),
  moderation_status: z
    .enum(['pending', 'scanning', 'clean', 'blocked'])
    .meta({ description: 'Only a clean file may be read and used by other operations.' }),
  created_at: z.iso.datetime().describe('The time of creation.'),
});

export const file = listedFile.extend({
  download_url: z
    .string()
    .nullable()
    .meta({ description: 'Null until clean. Valid for 15 minutes; signed anew for each response.' }),
  download_url_expires_at: z.iso
    .datetime()
    .nullable()
    .describe('The time at which `download_url` expires; null without a URL.'),
  notes: z
    .string()
    .nullable()
    .describe('The notes about the file; null without notes, and for callers who may not change the file.'),
});

export type WireFile = z.input<typeof file>;
export type WireListedFile = z.input<typeof listedFile>;

const fileName = text({ min: 1, max: 255 });

const common = {
  tag: 'Files',
  auth: 'key-or-token',
  rate: { key: 'standard', user: 'standard' },
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
  description: 'Pass `next_cursor` as `cursor` to get the next page.',
  owner: 'caller',
  input: {
    query: pageQuery.extend({
      ...sharedQuery,
      search: text({ max: 200 }).optional().meta({ description: 'Text in the name.' }),
    }),
  },
  output: {
    200: {
      description: 'A page of files.',
      schema: cursorPage(listedFile.extend({ permission })),
    },
  },
});

export const createFileUpload = defineOperation({
  ...write,
  id: 'createFileUpload',
  method: 'POST',
  path: '/api/v1/files',
  summary: 'Create a file, and get its upload URL',
  description:
    'PUT the raw bytes to `upload_url` within 10 minutes, with the announced type as `Content-Type` and without any ' +
    'credential; exactly the announced number of bytes, once. Then poll the file until its `moderation_status` is ' +
    '`clean` or `blocked`.',
  owner: 'caller',
  input: {
    body: z.strictObject({
      file_name: fileName.describe('The file name.'),
      mime_type: text({ min: 1, max: 255 }).describe(
        'The media type of the content. The upload must have the same.',
      ),
      file_size: z.number().int().min(1).meta({ description: 'Bytes.' }),
    }),
  },
  output: {
    201: {
      description: 'The file and its upload URL.',
      schema: z.object({
        id: z.string().describe('The id of the file.'),
        upload_url: z
          .string()
          .describe('The URL to which the bytes are sent with `PUT`. It is valid for one upload.'),
        upload_url_expires_at: z.iso.datetime().describe('The time at which the upload URL expires.'),
      }),
    },
  },
  refusals: [
    { status: 400, description: 'The type is not accepted, the file is too large, or the quota is used up.' },
  ],
});

export const getFile = defineOperation({
  ...read,
  id: 'getFile',
  method: 'GET',
  path: '/api/v1/files/{id}',
  summary: 'Get a file: its state, and a link to its bytes',
  description:
    'Files are checked before use: `download_url` is null until the check is done. The URL expires after some minutes; ask again for a new one.',
  rate: { key: 'day-exempt', user: 'standard' },
  input: { params: idParams },
  output: { 200: { description: 'The file.', schema: file } },
});

export const updateFile = defineOperation({
  ...write,
  id: 'updateFile',
  method: 'PATCH',
  path: '/api/v1/files/{id}',
  summary: 'Rename a file, or set its notes',
  description: 'Fields that are not sent stay as they are. The content of a file cannot change.',
  input: {
    params: idParams,
    body: z.strictObject({
      file_name: fileName.optional().describe('The file name.'),
      notes: text({ max: 10_000 })
        .optional()
        .meta({ description: 'Notes about the file. Shown to users who may change it.' }),
    }),
  },
  output: { 200: { description: 'The updated file.', schema: file } },
});

export const deleteFile = defineOperation({
  ...write,
  id: 'deleteFile',
  method: 'DELETE',
  path: '/api/v1/files/{id}',
  summary: "Delete an own file, or the caller's share of another user's file",
  description: 'Owners delete the file with its content. Other users only lose their share.',
  input: { params: idParams },
  output: { 204: { description: 'The file or the share is deleted.' } },
});
