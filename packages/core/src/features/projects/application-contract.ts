import { bracketPage, bracketQuery } from '../../contract/bracket-pages.ts';
import { defineOperation } from '../../contract/operation.ts';
import { getProject, listProjects, project } from './contract.ts';

/** `GET /api/v1/projects/{id}` at its older path. */
export const getApplicationProject = defineOperation({
  ...getProject,
  id: 'getApplicationProject',
  path: '/api/projects/{id}',
  side: 'application',
  description: 'The same as `GET /api/v1/projects/{id}`.',
});

export const listApplicationProjects = defineOperation({
  ...listProjects,
  id: 'listApplicationProjects',
  path: '/api/projects',
  side: 'application',
  description: 'The records of `GET /api/v1/projects`, with page numbers and search.',
  input: { query: bracketQuery },
  output: { 200: { description: 'A page of projects.', schema: bracketPage(project) } },
});
