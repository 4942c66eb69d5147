import { createDemoProvider } from '@questline/core';
import { SESSIONS } from '@questline/core/internal';
import { ProviderError } from '@questline/core/ports';
import type { TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { faulted, refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const session = (app: TestApp, name = 'Mine') => ({
  id: AN_ID,
  name,
  userId: app.user.id,
  knowledgeIds: [],
  artifactIds: [],
  agentIds: [],
  tags: [{ name: 'physics', strength: 0.5 }],
  dataLakeId: null,
  projectId: null,
  lastUsedModel: null,
  forceKnowledgeRetrieval: false,
  retrievalTags: [],
  includeLibraryFiles: false,
  firstCreated: AT_NOON,
  lastUpdated: AT_NOON,
});

const WISH = { name: 'Mine', tags: [{ name: 'physics', strength: 0.5 }] };

async function create(app: TestApp): Promise<string> {
  const { key } = await app.issue({ scopes: ['notebooks:write'] });
  const answer = await app.ask('POST', '/api/v1/sessions', { body: WISH, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const ofSession =
  (path: (id: string) => string, body?: object) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    path: path(await create(app)),
    ...(body !== undefined && { body }),
  });

const direct = (id: string): string => `/api/sessions/${id}`;
const NOT_FOUND = refused('public', { status: 404, message: 'Session not found' });
const unknown = (body?: object): WireCase => ({
  title: 'answers 404 for an unknown session',
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});

export const listSessions: readonly WireCase[] = [
  {
    title: 'lists no sessions at first',
    status: 200,
    body: { data: [], next_cursor: null },
    everywhere: true,
  },
  {
    title: 'lists the sessions of the caller',
    ask: ofSession(() => '/api/v1/sessions?search=min&limit=1'),
    status: 200,
    body: (app) => ({ data: [session(app)], next_cursor: null }),
  },
  {
    title: 'rejects a search that is too long',
    ask: { path: `/api/v1/sessions?search=${'x'.repeat(201)}` },
    ...refused('public', {
      status: 422,
      message: 'search: expected at most 200 characters, got 201 characters of text',
    }),
  },
];

export const createSession: readonly WireCase[] = [
  {
    title: 'creates a session',
    ask: { body: WISH },
    status: 200,
    body: (app) => session(app),
    everywhere: true,
  },
  {
    title: 'rejects a session without a name',
    ask: { body: {} },
    ...refused('public', {
      status: 422,
      message: 'name: is required',
    }),
  },
  {
    title: 'rejects an unknown file',
    ask: { body: { ...WISH, knowledgeIds: ['0'.repeat(24)] } },
    ...refused('public', { status: 404, message: `File ${'0'.repeat(24)} not found` }),
  },
];

export const cloneSession: readonly WireCase[] = [
  {
    title: 'clones a session',
    ask: ofSession((id) => `/api/v1/sessions/${id}/clone`),
    status: 200,
    body: (app) => session(app, 'Mine (copy)'),
  },
  unknown({}),
];

export const getSession: readonly WireCase[] = [
  {
    title: 'returns a session',
    ask: ofSession(direct),
    status: 200,
    body: (app) => session(app),
    everywhere: true,
  },
  unknown(),
];

export const updateSession: readonly WireCase[] = [
  {
    title: 'renames a session',
    ask: ofSession(direct, { name: 'Yours' }),
    status: 200,
    body: (app) => session(app, 'Yours'),
    everywhere: true,
  },
  {
    title: 'rejects a missing name',
    ask: ofSession(direct, { name: '' }),
    ...refused('public', {
      status: 422,
      message: 'name: expected at least 1 character, got 0 characters of text',
    }),
  },
  {
    title: 'rejects a system prompt for a session of another user',
    ask: async (app) => {
      const id = await create(app);
      const bob = await app.addUser('bob@example.com');
      const change = { ownerId: bob.id, writerIds: [app.user.id] };
      await app.services.store.collection(SESSIONS).update(id, change);
      return { path: direct(id), body: { systemPromptText: 'Planted.' } };
    },
    ...refused('public', { status: 403, message: 'Only the owner may set the system prompt of a session' }),
  },
  unknown({ name: 'Yours' }),
];

export const deleteSession: readonly WireCase[] = [
  {
    title: 'deletes the only session',
    ask: ofSession(direct),
    status: 200,
    body: { newLastNotebookId: null },
    everywhere: true,
  },
  {
    title: 'answers 409 for a session changed in parallel',
    ask: async (app) => {
      const id = await create(app);
      const { key } = await app.issue({ scopes: ['notebooks:write'] });
      const { queue } = app.services;
      const enqueue = queue.enqueue.bind(queue);
      queue.enqueue = async (...args) => {
        await app.clock.advance(1);
        await app.ask('PUT', direct(id), { body: { name: 'Changed' }, credential: key });
        await app.clock.advance(-1);
        return enqueue(...args);
      };
      return { path: direct(id) };
    },
    ...refused('public', {
      status: 409,
      message: 'The session was changed concurrently. Read it again.',
    }),
  },
  unknown(),
];

/** Creates the session to search. */
const searching =
  (body: object) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    await create(app);
    return { body };
  };
const failing = (kind: ProviderError['kind']) => () => ({
  models: [{ ...createDemoProvider(), embed: () => Promise.reject(new ProviderError(kind, 'secret words')) }],
});
const withEmbeddings = () => ({ models: [createDemoProvider()] });

export const searchSessions: readonly WireCase[] = [
  {
    title: 'returns the matching sessions',
    app: withEmbeddings,
    ask: searching({ query: 'mine' }),
    status: 200,
    body: {
      sessionIds: [AN_ID],
      count: 1,
      scores: [{ sessionId: AN_ID, sessionName: 'Mine', maxSimilarity: 1, matchingMessages: 0 }],
    },
  },
  {
    title: 'returns nothing to a caller without sessions',
    app: withEmbeddings,
    ask: { body: { query: 'mine' } },
    status: 200,
    body: { sessionIds: [], count: 0, scores: [] },
    everywhere: true,
  },
  {
    title: 'rejects a request without a query',
    app: withEmbeddings,
    ask: { body: {} },
    ...faulted('query', 'is required'),
  },
  {
    title: 'rejects a server without an embedding model',
    ask: { body: { query: 'mine' } },
    ...refused('application', { status: 422, message: 'No embedding model is available on this server' }),
  },
  {
    title: 'reports a provider that fails',
    app: failing('failed'),
    ask: searching({ query: 'mine' }),
    ...refused('application', {
      status: 502,
      code: 'PROVIDER_ERROR',
      message: 'The model gave no answer: the provider failed.',
    }),
  },
  {
    title: 'reports a provider without a key',
    app: failing('not_configured'),
    ask: searching({ query: 'mine' }),
    ...refused('application', {
      status: 503,
      code: 'PROVIDER_ERROR',
      message: 'No key is configured for this model provider.',
    }),
  },
];
