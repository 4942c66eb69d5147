import type { Asked } from '../../support/wire.ts';
import type { World } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const session = (world: World, name = 'Mine') => ({
  id: AN_ID,
  name,
  userId: world.user.id,
  knowledgeIds: [],
  artifactIds: [],
  agentIds: [],
  tags: [{ name: 'physics', strength: 0.5 }],
  projectId: null,
  lastUsedModel: null,
  forceKnowledgeRetrieval: false,
  retrievalTags: [],
  includeLibraryFiles: false,
  firstCreated: AT_NOON,
  lastUpdated: AT_NOON,
});

const WISH = { name: 'Mine', tags: [{ name: 'physics', strength: 0.5 }] };

async function create(world: World): Promise<string> {
  const { key } = await world.issue({ scopes: ['notebooks:write'] });
  const answer = await world.ask('POST', '/api/v1/sessions', { body: WISH, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const ofSession =
  (path: (id: string) => string, body?: object) =>
  async (world: World): Promise<Partial<Asked>> => ({
    path: path(await create(world)),
    ...(body !== undefined && { body }),
  });

const direct = (id: string): string => `/api/sessions/${id}`;
const NOT_FOUND = refused('public', { status: 404, message: 'Session not found' });
const unknown = (body?: object): WireCase => ({
  title: 'an unknown one',
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});

export const listSessions: readonly WireCase[] = [
  { title: 'is empty at first', status: 200, body: { data: [], next_cursor: null }, everywhere: true },
  {
    title: 'lists what the caller has',
    ask: ofSession(() => '/api/v1/sessions?search=min&limit=1'),
    status: 200,
    body: (world) => ({ data: [session(world)], next_cursor: null }),
  },
  {
    title: 'a search that is too long',
    ask: { path: `/api/v1/sessions?search=${'x'.repeat(201)}` },
    ...refused('public', {
      status: 422,
      message: 'search: expected at most 200 characters, got 201 characters of text',
    }),
  },
];

export const createSession: readonly WireCase[] = [
  {
    title: 'creates one',
    ask: { body: WISH },
    status: 200,
    body: (world) => session(world),
    everywhere: true,
  },
  {
    title: 'without a name',
    ask: { body: {} },
    ...refused('public', {
      status: 422,
      message: 'name: Invalid input: expected string, received undefined',
    }),
  },
  {
    title: 'with a file that is not there',
    ask: { body: { ...WISH, knowledgeIds: ['0'.repeat(24)] } },
    ...refused('public', { status: 404, message: 'File not found' }),
  },
];

export const cloneSession: readonly WireCase[] = [
  {
    title: 'copies one',
    ask: ofSession((id) => `/api/v1/sessions/${id}/clone`),
    status: 200,
    body: (world) => session(world, 'Mine (copy)'),
  },
  unknown({}),
];

export const getSession: readonly WireCase[] = [
  {
    title: 'shows one',
    ask: ofSession(direct),
    status: 200,
    body: (world) => session(world),
    everywhere: true,
  },
  unknown(),
];

export const updateSession: readonly WireCase[] = [
  {
    title: 'renames one',
    ask: ofSession(direct, { name: 'Yours' }),
    status: 200,
    body: (world) => session(world, 'Yours'),
    everywhere: true,
  },
  {
    title: 'no name at all',
    ask: ofSession(direct, { name: '' }),
    ...refused('public', {
      status: 422,
      message: 'name: expected at least 1 character, got 0 characters of text',
    }),
  },
  unknown({ name: 'Yours' }),
];

export const deleteSession: readonly WireCase[] = [
  {
    title: 'deletes the only one',
    ask: ofSession(direct),
    status: 200,
    body: { newLastNotebookId: null },
    everywhere: true,
  },
  {
    title: 'one that is changed meanwhile',
    ask: async (world) => {
      const id = await create(world);
      const { key } = await world.issue({ scopes: ['notebooks:write'] });
      const { queue } = world.services;
      const enqueue = queue.enqueue.bind(queue);
      queue.enqueue = async (...args) => {
        await world.clock.advance(1);
        await world.ask('PUT', direct(id), { body: { name: 'Changed' }, credential: key });
        await world.clock.advance(-1);
        return enqueue(...args);
      };
      return { path: direct(id) };
    },
    ...refused('public', {
      status: 409,
      message: 'The session was changed at the same time. Read it again.',
    }),
  },
  unknown(),
];
