import type { Asked } from '../../support/wire.ts';
import type { World, WorldOptions } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const PATH = '/api/v1/artifacts';
const WISH = { type: 'mermaid', title: 'Flow', content: 'graph TD; a-->b' };
const PLACES = { session_id: null, project_id: null };

const artifact = (change: object = {}) => ({
  id: AN_ID,
  ...WISH,
  description: null,
  version: 1,
  version_tag: null,
  status: 'draft',
  tags: [],
  ...PLACES,
  visibility: 'private',
  created_at: AT_NOON,
  updated_at: AT_NOON,
  ...change,
});

const version = (change: object = {}) => ({
  version: 1,
  version_tag: null,
  change_description: null,
  created_at: AT_NOON,
  content: WISH.content,
  ...change,
});

async function make(world: World, path: string, body: object): Promise<string> {
  const { key } = await world.issue({ scopes: ['notebooks:write', 'projects:write'] });
  const answer = await world.ask('POST', path, { body, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const ofArtifact =
  (suffix = '', body?: object) =>
  async (world: World): Promise<Partial<Asked>> => ({
    path: `${PATH}/${await make(world, PATH, WISH)}${suffix}`,
    ...(body !== undefined && { body }),
  });

const NOT_FOUND = refused('public', { status: 404, message: 'Artifact not found' });
const unknown = (body?: object): WireCase => ({
  title: 'an unknown one',
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});
const switchedOff = (body?: object): WireCase => ({
  title: 'while artifacts are switched off',
  world: (): WorldOptions => ({ settings: { admin: { EnableArtifacts: false } } }),
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 403, message: 'Artifacts are switched off' }),
});
const faulty = (title: string, change: object, message: string): WireCase => ({
  title,
  ask: { body: { ...WISH, ...change } },
  ...refused('public', { status: 422, message }),
});

export const listArtifacts: readonly WireCase[] = [
  { title: 'is empty at first', status: 200, body: { data: [], next_cursor: null }, everywhere: true },
  {
    title: 'lists what the caller has, without content',
    ask: async (world) => {
      await ofArtifact()(world);
      return {};
    },
    status: 200,
    body: { data: [artifact({ content: null })], next_cursor: null },
  },
  switchedOff(),
];

export const createArtifact: readonly WireCase[] = [
  { title: 'creates one', ask: { body: WISH }, status: 201, body: artifact(), everywhere: true },
  {
    title: 'creates one for a session and a project',
    ask: async (world) => ({
      body: {
        ...WISH,
        description: '',
        tags: ['a', 'b'],
        session_id: await make(world, '/api/v1/sessions', { name: 'Work' }),
        project_id: await make(world, '/api/v1/projects', { name: 'Engine', description: 'All.' }),
      },
    }),
    status: 201,
    body: artifact({ description: '', tags: ['a', 'b'], session_id: AN_ID, project_id: AN_ID }),
  },
  {
    title: 'for a session that is not there',
    ask: { body: { ...WISH, session_id: '0'.repeat(24) } },
    ...refused('public', { status: 404, message: 'Session not found' }),
  },
  {
    title: 'for a project that is no id',
    ask: { body: { ...WISH, project_id: 'x' } },
    ...refused('public', { status: 404, message: 'Project not found' }),
  },
  faulty(
    'of a type there is not',
    { type: 'word' },
    'type: Invalid option: expected one of "mermaid"|"recharts"|"chess"|"python"|"react"|"html"|"svg"|"code"|"quest"|"file"|"questmaster"|"lattice"|"blog-draft", got 4 characters of text',
  ),
  faulty(
    'without content',
    { content: '' },
    'content: expected at least 1 character, got 0 characters of text',
  ),
  faulty(
    'with a long title',
    { title: 'x'.repeat(256) },
    'title: expected at most 255 characters, got 256 characters of text',
  ),
  faulty(
    'with a long tag',
    { tags: ['x'.repeat(51)] },
    'tags.0: expected at most 50 characters, got 51 characters of text',
  ),
  faulty(
    'with 21 tags',
    { tags: Array(21).fill('x') },
    'tags: Too big: expected array to have <=20 items, got a list of 21',
  ),
  faulty('with a visibility', { visibility: 'public' }, 'Unrecognized key: "visibility"'),
  switchedOff(WISH),
];

export const getArtifact: readonly WireCase[] = [
  { title: 'shows one', ask: ofArtifact(), status: 200, body: artifact(), everywhere: true },
  unknown(),
  switchedOff(),
];

export const updateArtifact: readonly WireCase[] = [
  {
    title: 'makes a new version of new content',
    ask: ofArtifact('', { content: 'graph TD; b-->c', title: 'Back' }),
    status: 200,
    body: artifact({ content: 'graph TD; b-->c', title: 'Back', version: 2 }),
    everywhere: true,
  },
  {
    title: 'makes none of the same content',
    ask: ofArtifact('', { content: WISH.content, tags: ['x'] }),
    status: 200,
    body: artifact({ tags: ['x'] }),
  },
  {
    title: 'what a server decides',
    ask: { body: { version: 7, status: 'published' } },
    ...refused('public', { status: 422, message: 'Unrecognized keys: "version", "status"' }),
  },
  unknown({ title: 'Back' }),
  switchedOff({ title: 'Back' }),
];

export const deleteArtifact: readonly WireCase[] = [
  { title: 'deletes one', ask: ofArtifact(), status: 204, body: '', everywhere: true },
  unknown(),
  switchedOff(),
];

export const listArtifactVersions: readonly WireCase[] = [
  {
    title: 'lists them, without content',
    ask: ofArtifact('/versions'),
    status: 200,
    body: { data: [version({ content: null })], next_cursor: null },
  },
  {
    title: 'a limit of none',
    ask: { path: `${PATH}/${'0'.repeat(24)}/versions?limit=0` },
    ...refused('public', {
      status: 422,
      message: 'limit: expected a whole number from 1 to 100, got 1 characters of text',
    }),
  },
  unknown(),
  switchedOff(),
];

export const getArtifactVersion: readonly WireCase[] = [
  { title: 'shows one', ask: ofArtifact('/versions/1'), status: 200, body: version() },
  {
    title: 'a version there is not',
    ask: ofArtifact('/versions/2'),
    ...refused('public', { status: 404, message: 'Version not found' }),
  },
  { title: 'a version that is no number', ask: ofArtifact('/versions/1.0'), ...NOT_FOUND },
  unknown(),
  switchedOff(),
];
