import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { distinctStrings } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { text } from '../../contract/text.ts';

const SLUG = /^[a-z0-9-]{1,64}$/;
const slug = z.string().regex(SLUG, 'expected 1 to 64 lower-case letters, digits and hyphens');

const lake = z.object({
  id: z.string().describe('The id of the data lake.'),
  name: z.string().describe('The name of the data lake.'),
  slug: z.string().describe('The name of the data lake in addresses.'),
  datalake_tag: z.string().meta({ description: 'A tag on every passage of the lake.' }),
  description: z.string().nullable().describe('A description, for people.'),
  organization_id: z
    .string()
    .nullable()
    .describe('The id of the organization that shares the lake; null for the lake of one user.'),
  is_public: z.boolean().describe('Whether all users can read the lake.'),
  built_in: z.boolean().describe('Whether the lake is part of the workspace and cannot be changed.'),
  status: z.enum(['draft', 'active', 'archived', 'deleting']).describe('The state of the lake.'),
  file_count: z.number().int().min(0).describe('The number of files in the lake.'),
  total_size_bytes: z.number().int().min(0).describe('The size of all files, in bytes.'),
  last_sync_at: z.iso.datetime().nullable().meta({ description: 'Time when a file last became ready.' }),
  created_at: z.iso.datetime().describe('The time of creation.'),
  updated_at: z.iso.datetime().describe('The time of the last change.'),
});

const lakeFile = z.object({
  lake_id: z.string().describe('The id of the data lake.'),
  file_id: z.string().describe('The id of the file.'),
  file_name: z.string().describe('The file name.'),
  ingestion_status: z
    .enum(['not_ingested', 'indexing', 'paused', 'ready', 'failed'])
    .describe('How far the file is searchable. `ready`: completely.'),
  chunk_count: z.number().int().min(0).describe('The number of passages of the file.'),
  vectorized_chunk_count: z
    .number()
    .int()
    .min(0)
    .describe('The number of passages that can be searched by meaning.'),
  error: z.string().nullable().describe('Why the file could not be read; null without a problem.'),
});

const contents = z.object({
  lake_id: z.string().describe('The id of the data lake.'),
  file_id: z.string().describe('The id of the file.'),
  file_count: z.number().int().min(0).describe('The number of files in the lake.'),
  total_size_bytes: z.number().int().min(0).describe('The size of all files, in bytes.'),
});

const searchResult = z.object({
  chunk_id: z.string().describe('The id of the passage.'),
  file_id: z.string().describe('The id of the file.'),
  file_name: z.string().describe('The file name.'),
  chunk_text: z.string().describe('The text of the passage.'),
  score: z.number().meta({ description: 'Cosine of the angle to the query: -1 to 1, 1 is nearest.' }),
});

const searched = z.object({
  results: z.array(searchResult).meta({ description: 'Best first, ranked by meaning and by words.' }),
  embedding_model: z.string().describe('The model that compares texts by meaning.'),
  partial_results: z.boolean().meta({ description: 'Some files of the lake could not be searched yet.' }),
  retrieval_unavailable: z
    .object({
      indexing_files: z.number().int().min(0).describe('The number of files that are being indexed.'),
      paused_files: z
        .number()
        .int()
        .min(0)
        .describe('The number of files whose indexing waits, for example for credits.'),
    })
    .describe('The files that this search could not include.'),
});

export type WireLake = z.input<typeof lake>;
export type SearchResult = z.input<typeof searchResult>;

const name = text({ min: 1, max: 255 });
const description = text({ max: 1000 }).optional();

/** A lake, by its id or its slug. */
const params = z.object({ id: z.string().regex(SLUG).describe('The id or the slug of the data lake.') });
const fileParams = params.extend({
  file_id: z
    .string()
    .regex(/^[0-9a-f]{24}$/)
    .describe('The id of the file.'),
});

const switchedOff = {
  status: 403,
  description: 'Data lakes are switched off, or the scope `datalake:share` is missing.',
};

const common = {
  tag: 'Data Lakes',
  auth: 'key-or-token',
  family: 'public',
  subject: 'Data lake',
  rate: { key: 'standard', user: 'standard' },
} as const;

const read = {
  ...common,
  scopes: ['datalake:read', 'datalake:write', 'datalake:query'],
  owner: 'caller-or-shared',
} as const;

const write = { ...common, scopes: ['datalake:write'], owner: 'caller' } as const;

export const listDataLakes = defineOperation({
  ...read,
  id: 'listDataLakes',
  method: 'GET',
  path: '/api/v1/data-lakes',
  summary: 'List the data lakes that the caller may search, oldest first',
  description:
    "Includes lakes of the caller's organizations and public lakes. Pass `next_cursor` as `cursor` to get the next page.",
  input: { query: pageQuery },
  output: {
    200: {
      description: 'A page of data lakes.',
      schema: cursorPage(lake),
    },
  },
  refusals: [switchedOff],
});

export const createDataLake = defineOperation({
  ...write,
  id: 'createDataLake',
  method: 'POST',
  path: '/api/v1/data-lakes',
  summary: 'Create a data lake',
  description:
    'A data lake is a set of files that can be searched by meaning. Add files with `addDataLakeFile`.',
  input: {
    body: z.strictObject({
      name: name.describe('The name of the data lake.'),
      slug: slug.optional().meta({ description: 'Default: derived from the name.' }),
      description: description.describe('A description, for people.'),
      organization_id: z
        .string()
        .optional()
        .describe(
          'The id of the organization that shares the lake. Default: the lake belongs to the caller.',
        ),
      is_public: z
        .boolean()
        .default(false)
        .meta({ description: 'True: an API key also needs `datalake:share`.' }),
    }),
  },
  output: { 201: { description: 'The data lake.', schema: lake } },
  refusals: [
    switchedOff,
    { status: 404, description: 'The organization is unknown to the caller.' },
    { status: 409, description: 'The slug is taken.' },
  ],
});

export const getDataLake = defineOperation({
  ...read,
  id: 'getDataLake',
  method: 'GET',
  path: '/api/v1/data-lakes/{id}',
  summary: 'Get a data lake',
  description: 'Returns the lake with the number and size of its files.',
  input: { params },
  output: { 200: { description: 'The data lake.', schema: lake } },
  refusals: [switchedOff],
});

export const updateDataLake = defineOperation({
  ...write,
  id: 'updateDataLake',
  method: 'PATCH',
  path: '/api/v1/data-lakes/{id}',
  summary: 'Update the given fields of a data lake; an archived one accepts no files',
  description: 'Fields that are not sent stay as they are.',
  input: {
    params,
    body: z.strictObject({
      name: name.optional().describe('The name of the data lake.'),
      description: description.describe('A description, for people.'),
      is_public: z.boolean().optional().describe('Whether all users can read the lake.'),
      status: z
        .enum(['active', 'archived'])
        .optional()
        .describe('The state of the lake. Archived lakes are not searched.'),
    }),
  },
  output: { 200: { description: 'The updated data lake.', schema: lake } },
  refusals: [switchedOff],
});

export const deleteDataLake = defineOperation({
  ...write,
  id: 'deleteDataLake',
  method: 'DELETE',
  path: '/api/v1/data-lakes/{id}',
  summary: 'Delete a data lake; its files remain',
  description: 'The lake disappears at once; its passages are removed in the background.',
  input: { params },
  output: { 204: { description: 'The deletion has started.' } },
  refusals: [switchedOff],
});

export const listDataLakeFiles = defineOperation({
  ...read,
  id: 'listDataLakeFiles',
  method: 'GET',
  path: '/api/v1/data-lakes/{id}/files',
  summary: 'List the files of a data lake with their status, oldest first',
  description: 'Shows how far each file is searchable. Pass `next_cursor` as `cursor` to get the next page.',
  input: { params, query: pageQuery },
  output: {
    200: {
      description: 'A page of files.',
      schema: z.object({
        data: z.array(lakeFile).describe('The files in the lake.'),
        next_cursor: z.string().nullable().describe('The cursor of the next page. Null on the last one.'),
      }),
    },
  },
  refusals: [switchedOff],
});

export const getDataLakeFile = defineOperation({
  ...read,
  id: 'getDataLakeFile',
  method: 'GET',
  path: '/api/v1/data-lakes/{id}/files/{file_id}',
  summary: 'Get the status of a file in a data lake',
  description: 'Poll until `ingestion_status` is `ready` or `failed`.',
  input: { params: fileParams },
  output: { 200: { description: 'The file in the lake.', schema: lakeFile } },
  refusals: [switchedOff],
});

export const addDataLakeFile = defineOperation({
  ...write,
  id: 'addDataLakeFile',
  paid: true,
  method: 'POST',
  path: '/api/v1/data-lakes/{id}/files/{file_id}',
  summary: 'Add a file to a data lake; retries a paused or failed one',
  description: 'Readers of the lake can then find passages of the file. The caller pays for the embeddings.',
  input: { params: fileParams },
  output: { 200: { description: 'The contents of the lake.', schema: contents } },
  refusals: [
    switchedOff,
    { status: 422, description: '`unsupported_input`: the file is not clean. Or the quota is used up.' },
  ],
});

export const removeDataLakeFile = defineOperation({
  ...write,
  id: 'removeDataLakeFile',
  method: 'DELETE',
  path: '/api/v1/data-lakes/{id}/files/{file_id}',
  summary: 'Remove a file from a data lake',
  description: 'The passages of the file are no longer found. The file itself stays.',
  input: { params: fileParams },
  output: { 200: { description: 'The contents of the lake.', schema: contents } },
  refusals: [switchedOff],
});

export const searchDataLake = defineOperation({
  ...common,
  id: 'searchDataLake',
  paid: true,
  method: 'POST',
  path: '/api/v1/data-lakes/{id}/search',
  summary: 'Search a data lake by meaning and by words',
  description:
    'Compares the query with the passages of all files that are ready. Costs the embedding of the query.',
  scopes: ['datalake:query'],
  owner: 'caller-or-shared',
  input: {
    params,
    body: z.strictObject({
      query: text({ min: 1, max: 4000 }).describe('The question, or words to look for.'),
      top_k: z.number().int().min(1).max(100).default(10).describe('The maximum number of passages.'),
      min_score: z.number().min(-1).max(1).default(0).describe('Leaves out passages with a lower score.'),
      tags: distinctStrings(100)
        .default([])
        .meta({ description: 'Only passages with at least one of these tags. Empty: all.' }),
    }),
  },
  output: { 200: { description: 'The search results.', schema: searched } },
  refusals: [
    switchedOff,
    { status: 502, description: 'The model provider failed.' },
    { status: 503, description: 'The model provider is overloaded or has no key.' },
  ],
});
