import { PROJECTS } from '@questline/core/internal';
import { expect } from 'vitest';
import { makeFile, makeSession } from '../../support/owned-resources.ts';
import type { TestApp } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const PATH = '/api/v1/projects';
const WISH = { name: 'Engine', description: 'All about it.' };

const project = (change: object = {}) => ({
  owner_id: AN_ID,
  id: AN_ID,
  ...WISH,
  session_ids: [],
  file_ids: [],
  created_at: AT_NOON,
  updated_at: AT_NOON,
  ...change,
});

async function create(app: TestApp, name = WISH.name): Promise<string> {
  const { key } = await app.issue({ scopes: ['projects:write'] });
  const body = { ...WISH, name };
  const answer = await app.ask('POST', PATH, { body, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const ofProject =
  (body?: object, before: (app: TestApp) => unknown = () => undefined) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    await before(app);
    return { path: `${PATH}/${await create(app)}`, ...(body !== undefined && { body }) };
  };

const NOT_FOUND = refused('public', { status: 404, message: 'Project not found' });
const unknown = (body?: object): WireCase => ({
  title: 'answers 404 for an unknown project',
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});
const NAME_TAKEN = refused('public', {
  status: 422,
  message: 'name: you have another project with this name',
});
const invalid = (title: string, body: object, message: string): WireCase => ({
  title,
  ask: { body },
  ...refused('public', { status: 422, message }),
});

export const listProjects: readonly WireCase[] = [
  {
    title: 'lists no projects at first',
    status: 200,
    body: { data: [], next_cursor: null },
    everywhere: true,
  },
  {
    title: 'lists the projects of the caller',
    ask: async (app) => {
      await create(app);
      return {};
    },
    status: 200,
    body: { data: [project()], next_cursor: null },
  },
  {
    title: 'rejects a cursor of another list',
    ask: { path: `${PATH}?cursor=abc` },
    ...refused('public', {
      status: 422,
      message: 'cursor: not a cursor of this list; start again without one',
    }),
  },
];

export const createProject: readonly WireCase[] = [
  {
    title: 'creates a project with a session',
    ask: async (app) => {
      const { key } = await app.issue({ scopes: ['notebooks:write'] });
      const answer = await app.ask('POST', '/api/v1/sessions', { body: { name: 'Work' }, credential: key });
      const { id } = (await answer.json()) as { id: string };
      return { body: { ...WISH, session_ids: [id, id] } };
    },
    status: 201,
    body: project({ session_ids: [AN_ID] }),
  },
  { title: 'creates an empty project', ask: { body: WISH }, status: 201, body: project(), everywhere: true },
  {
    title: 'rejects an unknown session',
    ask: { body: { ...WISH, session_ids: ['0'.repeat(24)] } },
    ...refused('public', { status: 400, message: 'session_ids.0: session not found' }),
  },
  {
    title: 'rejects a malformed session id',
    ask: { body: { ...WISH, session_ids: ['x'] } },
    ...refused('public', { status: 400, message: 'session_ids.0: session not found' }),
  },
  {
    title: 'rejects an unknown file',
    ask: { body: { ...WISH, file_ids: ['0'.repeat(24)] } },
    ...refused('public', { status: 400, message: 'file_ids.0: file not found' }),
  },
  {
    title: 'rejects a name that is in use',
    ask: async (app) => {
      await create(app);
      return { body: WISH };
    },
    ...NAME_TAKEN,
  },
  invalid('without a description', { name: 'Engine' }, 'description: is required'),
  invalid(
    'with an empty name',
    { ...WISH, name: '' },
    'name: expected at least 1 character, got 0 characters of text',
  ),
  invalid(
    'with 501 sessions',
    { ...WISH, session_ids: Array.from({ length: 501 }, () => '0'.repeat(24)) },
    'session_ids: Too big: expected array to have <=500 items, got a list of 501',
  ),
  invalid('with an owner', { ...WISH, ownerId: 'x' }, 'Unrecognized key: "ownerId"'),
];

export const getProject: readonly WireCase[] = [
  { title: 'returns a project', ask: ofProject(), status: 200, body: project(), everywhere: true },
  unknown(),
];

export const updateProject: readonly WireCase[] = [
  {
    title: 'changes the named fields',
    ask: ofProject({ name: 'Motor' }),
    status: 200,
    body: project({ name: 'Motor' }),
    everywhere: true,
  },
  { title: 'accepts its current name', ask: ofProject({ name: WISH.name }), status: 200, body: project() },
  {
    title: 'rejects a name that is in use',
    ask: ofProject({ name: 'Other' }, (app) => create(app, 'Other')),
    ...NAME_TAKEN,
  },
  {
    title: 'rejects an unknown session',
    ask: ofProject({ session_ids: ['0'.repeat(24)] }),
    ...refused('public', { status: 400, message: 'session_ids.0: session not found' }),
  },
  {
    title: 'rejects an unknown file',
    ask: ofProject({ file_ids: ['0'.repeat(24)] }),
    ...refused('public', { status: 400, message: 'file_ids.0: file not found' }),
  },
  unknown({ name: 'Motor' }),
];

export const deleteProject: readonly WireCase[] = [
  { title: 'deletes a project', ask: ofProject(), status: 204, body: '', everywhere: true },
  unknown(),
];

type Member = 'session' | 'file';

/** Creates a session or a file, and a project that contains it if `isIn`. */
const ofMember =
  (kind: Member, isIn: boolean) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const id = await (kind === 'file' ? makeFile : makeSession)(app, app.user);
    const { key } = await app.issue({ scopes: ['projects:write'] });
    const body = { ...WISH, ...(isIn && { [`${kind}_ids`]: [id] }) };
    const answer = await app.ask('POST', PATH, { body, credential: key });
    const project = ((await answer.json()) as { id: string }).id;
    return { path: `${PATH}/${project}/${kind}s/${id}` };
  };

/** Fills the project up to the maximum. */
const full =
  (kind: Member) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const asked = await ofMember(kind, false)(app);
    const id = asked.path?.split('/')[4] ?? '';
    const many = Array.from({ length: 500 }, (_, at) => at.toString(16).padStart(24, 'e'));
    await app.services.store.collection(PROJECTS).update(id, { [`${kind}Ids`]: many });
    return asked;
  };

/** A writable project of another user, with a member of that user. */
const ofOther =
  (kind: Member) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const asked = await ofMember(kind, true)(app);
    const id = asked.path?.split('/')[4] ?? '';
    const { id: ownerId } = await app.addUser('grace@example.com');
    await app.services.store.collection(PROJECTS).update(id, { ownerId, writerIds: [app.user.id] });
    return asked;
  };

const NAMES = { session: 'Session', file: 'File' } as const;

const added = (kind: Member): readonly WireCase[] => [
  {
    title: `adds a ${kind}`,
    ask: ofMember(kind, false),
    status: 200,
    body: project({ [`${kind}_ids`]: [AN_ID] }),
    everywhere: true,
  },
  {
    title: `accepts a ${kind} that is already a member`,
    ask: ofMember(kind, true),
    status: 200,
    body: expect.anything(),
  },
  {
    title: `rejects a ${kind} beyond the maximum`,
    ask: full(kind),
    ...refused('public', {
      status: 422,
      message: `${kind}_ids: the project has the maximum of 500 with those of other users`,
    }),
  },
  {
    title: `answers 404 for an unknown ${kind}`,
    ask: async (app) => ({ path: `${PATH}/${await create(app)}/${kind}s/${'f'.repeat(24)}` }),
    ...refused('public', { status: 404, message: `${NAMES[kind]} not found` }),
  },
  unknown(),
];

const removed = (kind: Member): readonly WireCase[] => [
  { title: `removes a ${kind}`, ask: ofMember(kind, true), status: 200, body: project() },
  {
    title: `rejects the removal of a ${kind} of another user`,
    ask: ofOther(kind),
    ...refused('public', {
      status: 403,
      message: 'Only the owner of the project, or the user who added this, may remove it',
    }),
  },
  {
    title: `answers 404 for a ${kind} that is not a member`,
    ask: ofMember(kind, false),
    ...refused('public', { status: 404, message: `${NAMES[kind]} not found` }),
  },
  unknown(),
];

export const addProjectSession = added('session');
export const addProjectFile = added('file');
export const removeProjectSession = removed('session');
export const removeProjectFile = removed('file');
