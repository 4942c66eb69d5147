import * as z from 'zod';
import { pageQuery } from '../http/cursor.ts';
import { idParams } from '../http/identifiers.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

export const ARTIFACT_TYPES = [
  'mermaid',
  'recharts',
  'chess',
  'python',
  'react',
  'html',
  'svg',
  'code',
  'quest',
  'file',
  'questmaster',
  'lattice',
  'blog-draft',
] as const;

const content = z.string().nullable();

export const artifact = z.object({
  id: z.string(),
  type: z.enum(ARTIFACT_TYPES),
  title: z.string(),
  description: z.string().nullable(),
  version: z.int().min(1),
  version_tag: z.string().nullable(),
  status: z.enum(['draft', 'review', 'published', 'archived']),
  tags: z.array(z.string()),
  session_id: z.string().nullable(),
  project_id: z.string().nullable(),
  visibility: z.enum(['private', 'project', 'organization', 'public']),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  content: content.meta({ description: 'Null in lists.' }),
});

const version = z.object({
  version: z.int().min(1),
  version_tag: z.string().nullable(),
  change_description: z.string().nullable(),
  created_at: z.iso.datetime(),
  content: content.meta({ description: 'Null in lists.' }),
});

export type WireArtifact = z.input<typeof artifact>;
export type WireArtifactVersion = z.input<typeof version>;

const title = text({ min: 1, max: 255 });
const newContent = text({ min: 1 });
const description = text({ max: 1000 }).optional();
const tags = z
  .array(text({ max: 50 }))
  .max(20)
  .optional();

const common = {
  tag: 'Artifacts',
  auth: 'key-or-token',
  rate: { key: 'standard', user: 'unlimited' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Artifact',
} as const;

const read = { ...common, scopes: ['notebooks:read', 'notebooks:write'] } as const;
const write = { ...common, scopes: ['notebooks:write'] } as const;

const switchedOff = { status: 403, description: 'The administrator has switched artifacts off.' };

const versionNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/)
  .transform(Number)
  .meta({ type: 'integer', minimum: 1 });

export const listArtifacts = defineOperation({
  ...read,
  id: 'listArtifacts',
  method: 'GET',
  path: '/api/v1/artifacts',
  summary: "List the caller's artifacts, oldest first",
  owner: 'caller',
  input: { query: pageQuery },
  output: {
    200: {
      description: 'A page of artifacts, without content.',
      schema: z.object({ data: z.array(artifact), next_cursor: z.string().nullable() }),
    },
  },
  refusals: [switchedOff],
});

export const createArtifact = defineOperation({
  ...write,
  id: 'createArtifact',
  method: 'POST',
  path: '/api/v1/artifacts',
  summary: 'Create an artifact',
  description: 'It begins as version 1: a draft that nobody else sees. A session it is created for lists it.',
  owner: 'caller',
  input: {
    body: z.strictObject({
      type: z.enum(ARTIFACT_TYPES),
      title,
      content: newContent,
      description,
      session_id: z.string().optional(),
      project_id: z.string().optional(),
      tags,
    }),
  },
  output: { 201: { description: 'The artifact.', schema: artifact } },
  refusals: [switchedOff, { status: 404, description: 'The session or project is unknown to the caller.' }],
});

export const getArtifact = defineOperation({
  ...read,
  id: 'getArtifact',
  method: 'GET',
  path: '/api/v1/artifacts/{id}',
  summary: 'Read an artifact as it is now',
  input: { params: idParams },
  output: { 200: { description: 'The artifact.', schema: artifact } },
  refusals: [switchedOff],
});

export const updateArtifact = defineOperation({
  ...write,
  id: 'updateArtifact',
  method: 'PATCH',
  path: '/api/v1/artifacts/{id}',
  summary: 'Change what is named of an artifact; new content is a new version',
  input: {
    params: idParams,
    body: z.strictObject({
      title: title.optional(),
      description,
      content: newContent.optional(),
      tags,
    }),
  },
  output: { 200: { description: 'The artifact as it is now.', schema: artifact } },
  refusals: [switchedOff],
});

export const deleteArtifact = defineOperation({
  ...write,
  id: 'deleteArtifact',
  method: 'DELETE',
  path: '/api/v1/artifacts/{id}',
  summary: 'Delete an artifact with its versions',
  input: { params: idParams },
  output: { 204: { description: 'It is gone.' } },
  refusals: [switchedOff],
});

export const listArtifactVersions = defineOperation({
  ...read,
  id: 'listArtifactVersions',
  method: 'GET',
  path: '/api/v1/artifacts/{id}/versions',
  summary: 'List the versions of an artifact, oldest first',
  input: { params: idParams, query: pageQuery },
  output: {
    200: {
      description: 'A page of versions, without content.',
      schema: z.object({ data: z.array(version), next_cursor: z.string().nullable() }),
    },
  },
  refusals: [switchedOff],
});

export const getArtifactVersion = defineOperation({
  ...read,
  id: 'getArtifactVersion',
  method: 'GET',
  path: '/api/v1/artifacts/{id}/versions/{version}',
  summary: 'Read one version of an artifact',
  input: { params: idParams.extend({ version: versionNumber }) },
  output: { 200: { description: 'The version.', schema: version } },
  refusals: [switchedOff],
});
