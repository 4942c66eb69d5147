import * as z from 'zod';
import { cursorPage, pageQuery } from '../../contract/cursor.ts';
import { idParams } from '../../contract/identifiers.ts';
import { distinctStrings } from '../../contract/lists.ts';
import { defineOperation } from '../../contract/operation.ts';
import { permission, sharedQuery } from '../../contract/shared.ts';
import { text } from '../../contract/text.ts';

export const project = z.object({
  owner_id: z.string().describe('The id of the owner.'),
  id: z.string().describe('The id of the project.'),
  name: z.string().describe('The name of the project.'),
  description: z.string().describe('The description of the project.'),
  session_ids: z.array(z.string()).describe('The ids of the sessions in the project.'),
  file_ids: z.array(z.string()).describe('The ids of the files in the project.'),
  created_at: z.iso.datetime().describe('The time of creation.'),
  updated_at: z.iso.datetime().describe('The time of the last change.'),
});

export type WireProject = z.input<typeof project>;

const name = text({ min: 1, max: 1000 }).meta({ description: 'Unique among the projects of the user.' });
const description = text({ min: 1, max: 16_000 });
/** Maximum entries of each kind in one project. */
export const MAX_MEMBERS = 500;

const members = distinctStrings(MAX_MEMBERS).optional();

const common = {
  tag: 'Projects',
  auth: 'key-or-token',
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller',
  family: 'public',
  subject: 'Project',
} as const;

const read = { ...common, scopes: ['projects:read', 'projects:write'] } as const;
const write = { ...common, scopes: ['projects:write'] } as const;

export const listProjects = defineOperation({
  ...read,
  id: 'listProjects',
  method: 'GET',
  path: '/api/v1/projects',
  summary: "List the caller's projects, oldest first",
  description: 'Pass `next_cursor` as `cursor` to get the next page.',
  owner: 'caller-or-shared',
  input: { query: pageQuery.extend(sharedQuery) },
  output: {
    200: {
      description: 'A page of projects.',
      schema: cursorPage(project.extend({ permission })),
    },
  },
});

export const createProject = defineOperation({
  ...write,
  id: 'createProject',
  method: 'POST',
  path: '/api/v1/projects',
  summary: 'Create a project of sessions and files',
  description: 'A session shows the project that it was added to last.',
  input: {
    body: z.strictObject({
      name,
      description: description.describe('The description of the project.'),
      session_ids: members.describe('The ids of the sessions to put into the project.'),
      file_ids: members.describe('The ids of the files to put into the project.'),
    }),
  },
  output: { 201: { description: 'The project.', schema: project } },
  refusals: [{ status: 400, description: 'A session or file is unknown to the caller.' }],
});

export const getProject = defineOperation({
  ...read,
  id: 'getProject',
  method: 'GET',
  path: '/api/v1/projects/{id}',
  summary: 'Get a project',
  description: 'Returns the ids of the sessions and files in the project.',
  owner: 'caller-or-shared',
  input: { params: idParams },
  output: { 200: { description: 'The project.', schema: project } },
});

export const updateProject = defineOperation({
  ...write,
  id: 'updateProject',
  method: 'PATCH',
  path: '/api/v1/projects/{id}',
  summary: 'Update the given fields of a project',
  description:
    'For its owner and users with a write share. A caller with a write share removes only the sessions and files that ' +
    'the caller has added; the others stay in the lists.',
  owner: 'caller-or-shared',
  input: {
    params: idParams,
    body: z.strictObject({
      name: name.optional().describe('The name of the project.'),
      description: description.optional().describe('The description of the project.'),
      session_ids: members.describe(
        'The sessions of the project. A session that is new to it must be readable.',
      ),
      file_ids: members.describe('The files of the project. A file that is new to it must be readable.'),
    }),
  },
  output: { 200: { description: 'The updated project.', schema: project } },
  refusals: [
    { status: 400, description: 'A session or file that is new to the project is unknown to the caller.' },
  ],
});

export const deleteProject = defineOperation({
  ...write,
  id: 'deleteProject',
  method: 'DELETE',
  path: '/api/v1/projects/{id}',
  summary: 'Delete a project; its sessions and files remain',
  description: 'Removes the group and its shares, not its members.',
  input: { params: idParams },
  output: { 204: { description: 'The project is deleted.' } },
});
