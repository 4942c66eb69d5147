import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { idParams } from '../../contract/identifiers.ts';
import { distinctList } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { permission, sharedQuery } from '../../contract/shared.ts';
import { text } from '../../contract/text.ts';

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

const ARTIFACT_STATES = ['draft', 'review', 'published', 'archived'] as const;
const VISIBILITIES = ['private', 'project', 'organization', 'public'] as const;

const content = z.string().nullable();

export const artifact = z.object({
  owner_id: z.string().describe('The id of the owner.'),
  id: z.string().describe('The id of the artifact.'),
  type: z.enum(ARTIFACT_TYPES).describe('The kind of the artifact.'),
  title: z.string().describe('The title of the artifact.'),
  description: z.string().nullable().describe('A description, for people; null without one.'),
  version: z.int().min(1).describe('The number of the current version, from 1.'),
  version_tag: z.string().nullable().describe('A name of the current version; null without a name.'),
  status: z.enum(ARTIFACT_STATES).describe('The state of the artifact.'),
  tags: z.array(z.string()).describe('The tags of the artifact.'),
  session_id: z
    .string()
    .nullable()
    .describe('The id of the session that the artifact comes from; null without a session.'),
  project_id: z
    .string()
    .nullable()
    .describe('The id of the project that contains the artifact; null without a project.'),
  visibility: z.enum(VISIBILITIES).describe('Who can read the artifact.'),
  created_at: z.iso.datetime().describe('The time of creation.'),
  updated_at: z.iso.datetime().describe('The time of the last change.'),
  content: content.meta({ description: 'Null in lists.' }),
});

const version = z.object({
  version: z.int().min(1).describe('The number of the version, from 1.'),
  version_tag: z.string().nullable().describe('A name of the version; null without a name.'),
  change_description: z
    .string()
    .nullable()
    .describe('What changed in this version; null without a description.'),
  created_at: z.iso.datetime().describe('The time of the version.'),
  content: content.meta({ description: 'Null in lists.' }),
});

export type WireArtifact = z.input<typeof artifact>;
export type WireArtifactVersion = z.input<typeof version>;

const title = text({ min: 1, max: 255 });
const newContent = text({ min: 1 });
const description = text({ max: 1000 }).optional();
const tags = distinctList(text({ max: 50 }), { max: 20 }).optional();

const common = {
  tag: 'Artifacts',
  auth: 'key-or-token',
  rate: { key: 'standard', user: 'standard' },
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
  description:
    'Returns artifacts without their content. Pass `next_cursor` as `cursor` to get the next page.',
  owner: 'caller',
  input: { query: pageQuery.extend(sharedQuery) },
  output: {
    200: {
      description: 'A page of artifacts, without content.',
      schema: cursorPage(artifact.extend({ permission })),
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
  description: 'Starts as version 1: a private draft. If it is created for a session, the session lists it.',
  owner: 'caller',
  input: {
    body: z.strictObject({
      type: z.enum(ARTIFACT_TYPES).describe('The kind of the artifact.'),
      title: title.describe('The title of the artifact.'),
      content: newContent.describe(
        'The content. Tables, questionnaires and recordings are JSON, other kinds are text.',
      ),
      description: description.describe('A description, for people.'),
      session_id: z.string().optional().describe('The id of the session that the artifact comes from.'),
      project_id: z.string().optional().describe('The id of the project that contains the artifact.'),
      tags: tags.describe('The tags of the artifact. Replaces the list.'),
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
  summary: 'Get an artifact in its current version',
  description: 'Returns the artifact with the content of its current version.',
  input: { params: idParams },
  output: { 200: { description: 'The artifact.', schema: artifact } },
  refusals: [switchedOff],
});

export const updateArtifact = defineOperation({
  ...write,
  id: 'updateArtifact',
  method: 'PATCH',
  path: '/api/v1/artifacts/{id}',
  summary: 'Update the given fields of an artifact; new content creates a new version',
  description: 'Fields that are not sent stay as they are. Earlier versions stay readable.',
  input: {
    params: idParams,
    body: z.strictObject({
      title: title.optional().describe('The title of the artifact.'),
      description: description.describe('A description, for people.'),
      content: newContent
        .optional()
        .describe('The content. Tables, questionnaires and recordings are JSON, other kinds are text.'),
      tags: tags.describe('The tags of the artifact. Replaces the list.'),
      status: z.enum(ARTIFACT_STATES).optional().describe('The state of the work.'),
      visibility: z
        .enum(VISIBILITIES)
        .optional()
        .describe(
          'Who reads it beside its owner and the users with a share: readers of its `project`, members of the ' +
            "owner's `organization`, or all users (`public`). Only the owner changes it.",
        ),
      version_tag: text({ max: 50 }).nullish().describe('A name of the current version. Null removes it.'),
      change_description: text({ max: 1000 })
        .optional()
        .describe('What is new in the new version. Only with `content`.'),
    }),
  },
  output: { 200: { description: 'The updated artifact.', schema: artifact } },
  refusals: [
    {
      status: 403,
      description:
        'The administrator has switched artifacts off, or the caller changes `visibility` and is not the owner.',
    },
  ],
});

export const deleteArtifact = defineOperation({
  ...write,
  id: 'deleteArtifact',
  method: 'DELETE',
  path: '/api/v1/artifacts/{id}',
  summary: 'Delete an artifact with its versions',
  description: 'The artifact and all its versions are gone for good.',
  input: { params: idParams },
  output: { 204: { description: 'The artifact is deleted.' } },
  refusals: [switchedOff],
});

export const listArtifactVersions = defineOperation({
  ...read,
  id: 'listArtifactVersions',
  method: 'GET',
  path: '/api/v1/artifacts/{id}/versions',
  summary: 'List the versions of an artifact, oldest first',
  description: 'Returns versions without their content. Pass `next_cursor` as `cursor` to get the next page.',
  input: { params: idParams, query: pageQuery },
  output: {
    200: {
      description: 'A page of versions, without content.',
      schema: cursorPage(version),
    },
  },
  refusals: [switchedOff],
});

export const getArtifactVersion = defineOperation({
  ...read,
  id: 'getArtifactVersion',
  method: 'GET',
  path: '/api/v1/artifacts/{id}/versions/{version}',
  summary: 'Get one version of an artifact',
  description: 'Returns the content of the artifact as it was in that version.',
  input: {
    params: idParams.extend({ version: versionNumber.describe('The number of the version, from 1.') }),
  },
  output: { 200: { description: 'The version.', schema: version } },
  refusals: [switchedOff],
});
