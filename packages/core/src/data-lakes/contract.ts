import * as z from 'zod';
import { pageQuery } from '../http/cursor.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

const SLUG = /^[a-z0-9-]{1,64}$/;
const slug = z.string().regex(SLUG, 'expected 1 to 64 lower-case letters, digits and hyphens');

const lake = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  datalake_tag: z.string().meta({ description: 'A tag that every passage of the lake has.' }),
  description: z.string().nullable(),
  organization_id: z.string().nullable(),
  is_public: z.boolean(),
  built_in: z.boolean(),
  status: z.enum(['draft', 'active', 'archived', 'deleting']),
  file_count: z.number().int().min(0),
  total_size_bytes: z.number().int().min(0),
  last_sync_at: z.iso.datetime().nullable().meta({ description: 'When a file last became ready.' }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

const lakeFile = z.object({
  lake_id: z.string(),
  file_id: z.string(),
  file_name: z.string(),
  ingestion_status: z.enum(['not_ingested', 'indexing', 'paused', 'ready', 'failed']),
  chunk_count: z.number().int().min(0),
  vectorized_chunk_count: z.number().int().min(0),
  error: z.string().nullable(),
});

const contents = z.object({
  lake_id: z.string(),
  file_id: z.string(),
  file_count: z.number().int().min(0),
  total_size_bytes: z.number().int().min(0),
});

const searchResult = z.object({
  chunk_id: z.string(),
  file_id: z.string(),
  file_name: z.string(),
  chunk_text: z.string(),
  score: z.number().meta({ description: 'Cosine of the angle to the query: -1 to 1, 1 is nearest.' }),
});

const searched = z.object({
  results: z.array(searchResult).meta({ description: 'Best first, by meaning and by words together.' }),
  embedding_model: z.string(),
  partial_results: z.boolean().meta({ description: 'Some files of the lake could not be looked into yet.' }),
  retrieval_unavailable: z.object({
    indexing_files: z.number().int().min(0),
    paused_files: z.number().int().min(0),
  }),
});

export type WireLake = z.input<typeof lake>;
export type SearchResult = z.input<typeof searchResult>;

const name = text({ min: 1, max: 255 });
const description = text({ max: 1000 }).optional();

/** A lake by its id or its slug. */
const params = z.object({ id: z.string().regex(SLUG) });
const fileParams = params.extend({ file_id: z.string().regex(/^[0-9a-f]{24}$/) });

const switchedOff = {
  status: 403,
  description: 'Data lakes are switched off, or the right to share is missing.',
};

const common = {
  tag: 'Data Lakes',
  auth: 'key-or-token',
  family: 'public',
  subject: 'Data lake',
  rate: { key: 'standard', user: 'unlimited' },
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
  summary: 'List the data lakes the caller may search, oldest first',
  input: { query: pageQuery },
  output: {
    200: {
      description: 'A page of data lakes.',
      schema: z.object({ data: z.array(lake), next_cursor: z.string().nullable() }),
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
  input: {
    body: z.strictObject({
      name,
      slug: slug.optional().meta({ description: 'Default: made from the name.' }),
      description,
      organization_id: z.string().optional(),
      is_public: z
        .boolean()
        .default(false)
        .meta({ description: 'True: an API key needs `datalake:share` too.' }),
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
  summary: 'Read a data lake',
  input: { params },
  output: { 200: { description: 'The data lake.', schema: lake } },
  refusals: [switchedOff],
});

export const updateDataLake = defineOperation({
  ...write,
  id: 'updateDataLake',
  method: 'PATCH',
  path: '/api/v1/data-lakes/{id}',
  summary: 'Change what is named of a data lake; an archived one takes no files in',
  input: {
    params,
    body: z.strictObject({
      name: name.optional(),
      description,
      is_public: z.boolean().optional(),
      status: z.enum(['active', 'archived']).optional(),
    }),
  },
  output: { 200: { description: 'The data lake as it is now.', schema: lake } },
  refusals: [switchedOff],
});

export const deleteDataLake = defineOperation({
  ...write,
  id: 'deleteDataLake',
  method: 'DELETE',
  path: '/api/v1/data-lakes/{id}',
  summary: 'Delete a data lake; its files stay where they are',
  input: { params },
  output: { 204: { description: 'It is being deleted.' } },
  refusals: [switchedOff],
});

export const getDataLakeFile = defineOperation({
  ...read,
  id: 'getDataLakeFile',
  method: 'GET',
  path: '/api/v1/data-lakes/{id}/files/{file_id}',
  summary: 'See how far a file of a data lake is',
  input: { params: fileParams },
  output: { 200: { description: 'The file in the lake.', schema: lakeFile } },
  refusals: [switchedOff],
});

export const addDataLakeFile = defineOperation({
  ...write,
  id: 'addDataLakeFile',
  method: 'POST',
  path: '/api/v1/data-lakes/{id}/files/{file_id}',
  summary: 'Add a file to a data lake; one that paused or failed is tried again',
  description:
    'Whoever may read the lake may then find passages of the file in it. Embedding them is charged to the caller.',
  input: { params: fileParams },
  output: { 200: { description: 'What the lake holds now.', schema: contents } },
  refusals: [switchedOff],
});

export const removeDataLakeFile = defineOperation({
  ...write,
  id: 'removeDataLakeFile',
  method: 'DELETE',
  path: '/api/v1/data-lakes/{id}/files/{file_id}',
  summary: 'Take a file out of a data lake',
  input: { params: fileParams },
  output: { 200: { description: 'What the lake holds now.', schema: contents } },
  refusals: [switchedOff],
});

export const searchDataLake = defineOperation({
  ...common,
  id: 'searchDataLake',
  method: 'POST',
  path: '/api/v1/data-lakes/{id}/search',
  summary: 'Find passages of a data lake by what they mean and by their words',
  scopes: ['datalake:query'],
  owner: 'caller-or-shared',
  input: {
    params,
    body: z.strictObject({
      query: text({ min: 1, max: 4000 }),
      top_k: z.number().int().min(1).max(100).default(10),
      min_score: z.number().min(-1).max(1).default(0),
      tags: z
        .array(z.string())
        .max(100)
        .default([])
        .meta({ description: 'Passages with at least one of these. None: all.' }),
    }),
  },
  output: { 200: { description: 'What was found.', schema: searched } },
  refusals: [
    switchedOff,
    { status: 502, description: 'The model provider failed.' },
    { status: 503, description: 'The model provider is overloaded or has no key.' },
  ],
});
