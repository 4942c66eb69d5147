import { ARTIFACTS } from '@questline/core/internal';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const PATH = '/api/v1/artifacts';
const WISH = { type: 'mermaid', title: 'Flow', content: 'graph TD; a-->b' };
const PLACES = { session_id: null, project_id: null };

const artifact = (change: object = {}) => ({
  owner_id: AN_ID,
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

async function make(app: TestApp, path: string, body: object): Promise<string> {
  const { key } = await app.issue({ scopes: ['notebooks:write', 'projects:write'] });
  const answer = await app.ask('POST', path, { body, credential: key });
  return ((await answer.json()) as { id: string }).id;
}

const ofArtifact =
  (suffix = '', body?: object) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    path: `${PATH}/${await make(app, PATH, WISH)}${suffix}`,
    ...(body !== undefined && { body }),
  });

const NOT_FOUND = refused('public', { status: 404, message: 'Artifact not found' });
const unknown = (body?: object): WireCase => ({
  title: 'answers 404 for an unknown artifact',
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});
const switchedOff = (body?: object): WireCase => ({
  title: 'rejects while artifacts are disabled',
  app: (): TestAppOptions => ({ settings: { admin: { EnableArtifacts: false } } }),
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 403, message: 'Artifacts are switched off' }),
});
const invalid = (title: string, change: object, message: string): WireCase => ({
  title,
  ask: { body: { ...WISH, ...change } },
  ...refused('public', { status: 422, message }),
});

export const listArtifacts: readonly WireCase[] = [
  {
    title: 'lists no artifacts at first',
    status: 200,
    body: { data: [], next_cursor: null },
    everywhere: true,
  },
  {
    title: 'lists the artifacts of the caller without content',
    ask: async (app) => {
      await ofArtifact()(app);
      return {};
    },
    status: 200,
    body: { data: [artifact({ content: null })], next_cursor: null },
  },
  switchedOff(),
];

export const createArtifact: readonly WireCase[] = [
  { title: 'creates an artifact', ask: { body: WISH }, status: 201, body: artifact(), everywhere: true },
  {
    title: 'creates an artifact for a session and a project',
    ask: async (app) => ({
      body: {
        ...WISH,
        description: '',
        tags: ['a', 'b'],
        session_id: await make(app, '/api/v1/sessions', { name: 'Work' }),
        project_id: await make(app, '/api/v1/projects', { name: 'Engine', description: 'All.' }),
      },
    }),
    status: 201,
    body: artifact({ description: '', tags: ['a', 'b'], session_id: AN_ID, project_id: AN_ID }),
  },
  {
    title: 'rejects an unknown session',
    ask: { body: { ...WISH, session_id: '0'.repeat(24) } },
    ...refused('public', { status: 404, message: 'Session not found' }),
  },
  {
    title: 'rejects a malformed project id',
    ask: { body: { ...WISH, project_id: 'x' } },
    ...refused('public', { status: 404, message: 'Project not found' }),
  },
  invalid(
    'of an unknown type',
    { type: 'word' },
    'type: Invalid option: expected one of "mermaid"|"recharts"|"chess"|"python"|"react"|"html"|"svg"|"code"|"quest"|"file"|"questmaster"|"lattice"|"blog-draft", got 4 characters of text',
  ),
  invalid(
    'without content',
    { content: '' },
    'content: expected at least 1 character, got 0 characters of text',
  ),
  invalid(
    'with a long title',
    { title: 'x'.repeat(256) },
    'title: expected at most 255 characters, got 256 characters of text',
  ),
  invalid(
    'with a long tag',
    { tags: ['x'.repeat(51)] },
    'tags.0: expected at most 50 characters, got 51 characters of text',
  ),
  invalid(
    'with 21 tags',
    { tags: Array(21).fill('x') },
    'tags: Too big: expected array to have <=20 items, got a list of 21',
  ),
  invalid('with a visibility', { visibility: 'public' }, 'Unrecognized key: "visibility"'),
  switchedOff(WISH),
];

export const getArtifact: readonly WireCase[] = [
  { title: 'returns an artifact', ask: ofArtifact(), status: 200, body: artifact(), everywhere: true },
  unknown(),
  switchedOff(),
];

export const updateArtifact: readonly WireCase[] = [
  {
    title: 'makes a new version for new content',
    ask: ofArtifact('', { content: 'graph TD; b-->c', title: 'Back' }),
    status: 200,
    body: artifact({ content: 'graph TD; b-->c', title: 'Back', version: 2 }),
    everywhere: true,
  },
  {
    title: 'makes no version for unchanged content',
    ask: ofArtifact('', { content: WISH.content, tags: ['x'] }),
    status: 200,
    body: artifact({ tags: ['x'] }),
  },
  {
    title: 'rejects fields set by the server',
    ask: { body: { version: 7, type: 'code' } },
    ...refused('public', { status: 422, message: 'Unrecognized keys: "version", "type"' }),
  },
  {
    title: 'changes status, visibility and the tag of the version',
    ask: ofArtifact('', { status: 'published', visibility: 'public', version_tag: 'v1' }),
    status: 200,
    body: artifact({ status: 'published', visibility: 'public', version_tag: 'v1' }),
  },
  {
    title: 'rejects the visibility of a project without one',
    ask: ofArtifact('', { visibility: 'project' }),
    ...refused('public', { status: 422, message: 'visibility: the artifact belongs to no project' }),
  },
  {
    title: 'rejects a change of the visibility by a writer',
    ask: async (app) => {
      const asked = await ofArtifact('', { visibility: 'public' })(app);
      const bob = await app.addUser('bob@example.com');
      const id = asked.path?.split('/').at(-1) ?? '';
      const change = { ownerId: bob.id, writerIds: [app.user.id] };
      await app.services.store.collection(ARTIFACTS).update(id, change);
      return asked;
    },
    ...refused('public', {
      status: 403,
      message: 'Only the owner may change the visibility of an artifact',
    }),
  },
  unknown({ title: 'Back' }),
  switchedOff({ title: 'Back' }),
];

export const deleteArtifact: readonly WireCase[] = [
  { title: 'deletes an artifact', ask: ofArtifact(), status: 204, body: '', everywhere: true },
  unknown(),
  switchedOff(),
];

export const listArtifactVersions: readonly WireCase[] = [
  {
    title: 'lists versions without content',
    ask: ofArtifact('/versions'),
    status: 200,
    body: { data: [version({ content: null })], next_cursor: null },
  },
  {
    title: 'rejects an invalid limit',
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
  { title: 'returns a version', ask: ofArtifact('/versions/1'), status: 200, body: version() },
  {
    title: 'answers 404 for an unknown version',
    ask: ofArtifact('/versions/2'),
    ...refused('public', { status: 404, message: 'Version not found' }),
  },
  { title: 'answers 404 for a version that is not a number', ask: ofArtifact('/versions/1.0'), ...NOT_FOUND },
  unknown(),
  switchedOff(),
];
