import { createAnsweredSession, QUEST } from '../answered-session.ts';
import { refused, type WireCase } from './case.ts';
import { AT_NOON } from './chat.ts';

const HI = { id: '1'.repeat(24), role: 'user', content: 'Hi', questId: QUEST, createdAt: AT_NOON };
const HELLO = { ...HI, id: '2'.repeat(24), role: 'assistant', content: 'Hello.' };
const PAGE = { page: 1, limit: 20, total: 2, pages: 1, totalPages: 1, hasNext: false, hasPrev: false };

export const listMessages: readonly WireCase[] = [
  {
    title: 'lists messages, newest first',
    ask: async (app) => ({ path: `/api/sessions/${await createAnsweredSession(app)}/messages` }),
    status: 200,
    body: { messages: [HELLO, HI], pagination: PAGE },
    everywhere: true,
  },
  {
    title: 'lists messages oldest first, a page at a time',
    ask: async (app) => ({
      path: `/api/sessions/${await createAnsweredSession(app)}/messages?order=asc&limit=1`,
    }),
    status: 200,
    body: {
      messages: [HI],
      pagination: { ...PAGE, limit: 1, pages: 2, totalPages: 2, hasNext: true },
    },
  },
  {
    title: 'rejects a page that is too large',
    ask: async (app) => ({ path: `/api/sessions/${await createAnsweredSession(app)}/messages?limit=101` }),
    ...refused('application', {
      status: 422,
      message: 'limit: expected at most 100, got 3 characters of text',
      details: [{ path: 'limit', message: 'expected at most 100, got 3 characters of text' }],
    }),
  },
  {
    title: 'answers 404 for a session of another user',
    ask: async (app) => {
      const { key } = await app.issue({
        userId: (await app.addUser('eve@example.com')).id,
        scopes: ['notebooks:write'],
      });
      const made = await app.ask('POST', '/api/v1/sessions', { body: { name: 'Hers' }, credential: key });
      return { path: `/api/sessions/${((await made.json()) as { id: string }).id}/messages` };
    },
    ...refused('application', { status: 404, message: 'Session not found' }),
  },
  {
    title: 'answers 404 for an unknown session',
    ...refused('application', { status: 404, message: 'Session not found' }),
  },
];

export const listSessionMessages: readonly WireCase[] = [
  {
    title: 'lists messages, oldest first',
    ask: async (app) => ({ path: `/api/v1/sessions/${await createAnsweredSession(app)}/messages` }),
    status: 200,
    body: { data: [HI, HELLO], next_cursor: null },
    everywhere: true,
  },
  {
    title: 'continues at a cursor, newest first',
    ask: async (app) => {
      const path = `/api/v1/sessions/${await createAnsweredSession(app)}/messages?order=desc&limit=1`;
      const first = await app.ask('GET', path, { credential: await app.token() });
      const { next_cursor } = (await first.json()) as { next_cursor: string };
      return { path: `${path}&cursor=${encodeURIComponent(next_cursor)}` };
    },
    status: 200,
    body: { data: [HI], next_cursor: null },
  },
  {
    title: 'rejects a cursor of another list',
    ask: async (app) => ({
      path: `/api/v1/sessions/${await createAnsweredSession(app)}/messages?cursor=abc`,
    }),
    ...refused('public', {
      status: 422,
      message: 'cursor: not a cursor of this list; start again without one',
    }),
  },
  {
    title: 'answers 404 for an unknown session',
    ...refused('public', { status: 404, message: 'Session not found' }),
  },
];
