import * as z from 'zod';
import { pageQuery } from '../http/cursor.ts';
import { idParams } from '../http/identifiers.ts';
import { text } from '../http/text.ts';
import { defineOperation } from '../operation.ts';

export const project = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  session_ids: z.array(z.string()),
  file_ids: z.array(z.string()),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
});

export type WireProject = z.input<typeof project>;

const name = text({ min: 1, max: 1000 }).meta({ description: 'No two projects of a user share one.' });
const description = text({ min: 1, max: 16_000 });
/** Of each kind, in one project. */
export const MOST_MEMBERS = 500;

const members = z.array(z.string()).max(MOST_MEMBERS).optional();

const common = {
  tag: 'Projects',
  auth: 'key-or-token',
  rate: { key: 'standard', user: 'unlimited' },
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
  input: { query: pageQuery },
  output: {
    200: {
      description: 'A page of projects.',
      schema: z.object({ data: z.array(project), next_cursor: z.string().nullable() }),
    },
  },
});

export const createProject = defineOperation({
  ...write,
  id: 'createProject',
  method: 'POST',
  path: '/api/v1/projects',
  summary: 'Create a project of sessions and files',
  description: 'A session of the caller shows the project it was put into last.',
  input: { body: z.strictObject({ name, description, session_ids: members, file_ids: members }) },
  output: { 201: { description: 'The project.', schema: project } },
  refusals: [{ status: 400, description: 'A session or file is unknown to the caller.' }],
});

export const getProject = defineOperation({
  ...read,
  id: 'getProject',
  method: 'GET',
  path: '/api/v1/projects/{id}',
  summary: 'Read a project',
  input: { params: idParams },
  output: { 200: { description: 'The project.', schema: project } },
});

export const updateProject = defineOperation({
  ...write,
  id: 'updateProject',
  method: 'PATCH',
  path: '/api/v1/projects/{id}',
  summary: 'Change what is named of a project',
  input: {
    params: idParams,
    body: z.strictObject({ name: name.optional(), description: description.optional() }),
  },
  output: { 200: { description: 'The project as it is now.', schema: project } },
});

export const deleteProject = defineOperation({
  ...write,
  id: 'deleteProject',
  method: 'DELETE',
  path: '/api/v1/projects/{id}',
  summary: 'Delete a project; what was in it stays',
  input: { params: idParams },
  output: { 204: { description: 'It is gone.' } },
});
