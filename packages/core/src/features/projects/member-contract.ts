import * as z from 'zod';
import { idParams } from '../../contract/identifiers.ts';
import { defineOperation } from '../../contract/operation.ts';
import { MAX_MEMBERS, project } from './contract.ts';

const id = z.string().regex(/^[0-9a-f]{24}$/);
const sessionParams = idParams.extend({ session_id: id.describe('The id of the session.') });
const fileParams = idParams.extend({ file_id: id.describe('The id of the file.') });

const common = {
  tag: 'Projects',
  auth: 'key-or-token',
  scopes: ['projects:write'],
  rate: { key: 'standard', user: 'standard' },
  owner: 'caller-or-shared',
  family: 'public',
  subject: 'Project',
  output: { 200: { description: 'The updated project.', schema: project } },
} as const;

const full = {
  status: 422,
  description: `The project has the maximum of ${MAX_MEMBERS} entries of this kind.`,
};
const unknown = { status: 404, description: 'The project, or what is added, is unknown to the caller.' };
const absent = { status: 404, description: 'The project is unknown to the caller, or has no such entry.' };
const notTheirs = {
  status: 403,
  description: 'The caller has a write share, and another user has added it.',
};

const adding =
  'For the owner and users with a write share. An entry that the project has already stays in its place.';
const removing =
  'A caller with a write share removes only what the caller has added. The removed record itself stays.';

export const addProjectSession = defineOperation({
  ...common,
  id: 'addProjectSession',
  method: 'POST',
  path: '/api/v1/projects/{id}/sessions/{session_id}',
  summary: 'Add a session to a project',
  description: adding,
  input: { params: sessionParams },
  refusals: [unknown, full],
});

export const removeProjectSession = defineOperation({
  ...common,
  id: 'removeProjectSession',
  method: 'DELETE',
  path: '/api/v1/projects/{id}/sessions/{session_id}',
  summary: 'Remove a session from a project',
  description: removing,
  input: { params: sessionParams },
  refusals: [absent, notTheirs],
});

export const addProjectFile = defineOperation({
  ...common,
  id: 'addProjectFile',
  method: 'POST',
  path: '/api/v1/projects/{id}/files/{file_id}',
  summary: 'Add a file to a project',
  description: adding,
  input: { params: fileParams },
  refusals: [unknown, full],
});

export const removeProjectFile = defineOperation({
  ...common,
  id: 'removeProjectFile',
  method: 'DELETE',
  path: '/api/v1/projects/{id}/files/{file_id}',
  summary: 'Remove a file from a project',
  description: removing,
  input: { params: fileParams },
  refusals: [absent, notTheirs],
});
