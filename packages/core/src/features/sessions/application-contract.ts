import { bracketPage, bracketQuery } from '../../contract/bracket-pages.ts';
import { defineOperation } from '../../contract/operation.ts';
import { createSession, listSessions, session } from './contract.ts';

/** `POST /api/v1/sessions` at its older path. */
export const createApplicationSession = defineOperation({
  ...createSession,
  id: 'createApplicationSession',
  path: '/api/sessions/create',
  side: 'application',
  description: 'The same as `POST /api/v1/sessions`.',
});

export const listApplicationSessions = defineOperation({
  ...listSessions,
  id: 'listApplicationSessions',
  path: '/api/sessions',
  side: 'application',
  description: 'The records of `GET /api/v1/sessions`, with page numbers.',
  input: { query: bracketQuery },
  output: { 200: { description: 'A page of sessions.', schema: bracketPage(session) } },
});
