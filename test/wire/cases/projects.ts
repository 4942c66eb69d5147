import type { Asked } from '../../support/wire.ts';
import type { World } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const PATH = '/api/v1/projects';
const WISH = { name: 'Engine', description: 'All about it.' };

const project = (change: object = {}) => ({
  id: AN_ID,
  ...WISH,
  session_ids: [],
  file_ids: [],
  created_at: AT_NOON,
  updated_at: AT_NOON,
  ...change,
});

async function create(world: World, name = WISH.name): Promise<string> {
  const { key } = await world.issue({ scopes: ['projects:write'] });
  const body = { ...WISH, name };
  const answer = await world.ask('POST', PATH, { body, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const ofProject =
  (body?: object, before: (world: World) => unknown = () => undefined) =>
  async (world: World): Promise<Partial<Asked>> => {
    await before(world);
    return { path: `${PATH}/${await create(world)}`, ...(body !== undefined && { body }) };
  };

const NOT_FOUND = refused('public', { status: 404, message: 'Project not found' });
const unknown = (body?: object): WireCase => ({
  title: 'an unknown one',
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});
const NAME_TAKEN = refused('public', {
  status: 422,
  message: 'name: you have a project of this name already',
});
const faulty = (title: string, body: object, message: string): WireCase => ({
  title,
  ask: { body },
  ...refused('public', { status: 422, message }),
});

export const listProjects: readonly WireCase[] = [
  { title: 'is empty at first', status: 200, body: { data: [], next_cursor: null }, everywhere: true },
  {
    title: 'lists what the caller has',
    ask: async (world) => {
      await create(world);
      return {};
    },
    status: 200,
    body: { data: [project()], next_cursor: null },
  },
  {
    title: 'a cursor of another list',
    ask: { path: `${PATH}?cursor=abc` },
    ...refused('public', {
      status: 422,
      message: 'cursor: not a cursor of this list; start again without one',
    }),
  },
];

export const createProject: readonly WireCase[] = [
  {
    title: 'creates one of a session',
    ask: async (world) => {
      const { key } = await world.issue({ scopes: ['notebooks:write'] });
      const answer = await world.ask('POST', '/api/v1/sessions', { body: { name: 'Work' }, credential: key });
      const { id } = (await answer.json()) as { id: string };
      return { body: { ...WISH, session_ids: [id, id] } };
    },
    status: 201,
    body: project({ session_ids: [AN_ID] }),
  },
  { title: 'creates an empty one', ask: { body: WISH }, status: 201, body: project(), everywhere: true },
  {
    title: 'with a session that is not there',
    ask: { body: { ...WISH, session_ids: ['0'.repeat(24)] } },
    ...refused('public', { status: 400, message: 'session_ids.0: session not found' }),
  },
  {
    title: 'with a session that is no id',
    ask: { body: { ...WISH, session_ids: ['x'] } },
    ...refused('public', { status: 400, message: 'session_ids.0: session not found' }),
  },
  {
    title: 'with a file that is not there',
    ask: { body: { ...WISH, file_ids: ['0'.repeat(24)] } },
    ...refused('public', { status: 400, message: 'file_ids.0: file not found' }),
  },
  {
    title: 'of a name that another has',
    ask: async (world) => {
      await create(world);
      return { body: WISH };
    },
    ...NAME_TAKEN,
  },
  faulty(
    'without a description',
    { name: 'Engine' },
    'description: Invalid input: expected string, received undefined',
  ),
  faulty(
    'with an empty name',
    { ...WISH, name: '' },
    'name: expected at least 1 character, got 0 characters of text',
  ),
  faulty(
    'with 501 sessions',
    { ...WISH, session_ids: Array.from({ length: 501 }, () => '0'.repeat(24)) },
    'session_ids: Too big: expected array to have <=500 items, got a list of 501',
  ),
  faulty('with an owner', { ...WISH, ownerId: 'x' }, 'Unrecognized key: "ownerId"'),
];

export const getProject: readonly WireCase[] = [
  { title: 'shows one', ask: ofProject(), status: 200, body: project(), everywhere: true },
  unknown(),
];

export const updateProject: readonly WireCase[] = [
  {
    title: 'changes what is named',
    ask: ofProject({ name: 'Motor' }),
    status: 200,
    body: project({ name: 'Motor' }),
    everywhere: true,
  },
  { title: 'keeps its own name', ask: ofProject({ name: WISH.name }), status: 200, body: project() },
  {
    title: 'to a name that another has',
    ask: ofProject({ name: 'Other' }, (world) => create(world, 'Other')),
    ...NAME_TAKEN,
  },
  faulty('its sessions', { session_ids: [] }, 'Unrecognized key: "session_ids"'),
  unknown({ name: 'Motor' }),
];

export const deleteProject: readonly WireCase[] = [
  { title: 'deletes one', ask: ofProject(), status: 204, body: '', everywhere: true },
  unknown(),
];
