import {
  createDemoProvider,
  type ModelProvider,
  ProviderError,
  type ProviderErrorKind,
} from '@questline/core';
import { expect } from 'vitest';
import { addToLake, filledLake, makeLake, saveFile, withLakes } from '../../support/lakes.ts';
import type { Asked } from '../../support/wire.ts';
import type { World, WorldOptions } from '../../support/world.ts';
import { refused, type WireCase } from './case.ts';
import { AN_ID, AT_NOON } from './chat.ts';

const PATH = '/api/v1/data-lakes';
const WISH = { name: 'Field notes, 2026' };
const AN_EARLIER_FILE = '0'.repeat(24);

const lake = (change: object = {}) => ({
  id: AN_ID,
  name: 'Field notes, 2026',
  slug: 'field-notes-2026',
  datalake_tag: 'datalake:field-notes-2026',
  description: null,
  organization_id: null,
  is_public: false,
  built_in: false,
  status: 'draft',
  file_count: 0,
  total_size_bytes: 0,
  last_sync_at: null,
  created_at: AT_NOON,
  updated_at: AT_NOON,
  ...change,
});

const ofLake =
  (suffix = '', body?: object, wish: object = WISH) =>
  async (world: World): Promise<Partial<Asked>> => ({
    path: `${PATH}/${await makeLake(world, wish)}${suffix}`,
    ...(body !== undefined && { body }),
  });

const NOT_FOUND = refused('public', { status: 404, message: 'Data lake not found' });
const unknown = (body?: object): WireCase => ({
  title: 'an unknown one',
  world: withLakes,
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});
const switchedOff = (body?: object): WireCase => ({
  title: 'while data lakes are switched off',
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 403, message: 'Data lakes are switched off' }),
});
/** Somebody else's lake reads like one that is not there. */
const foreign = (suffix = '', body?: object): WireCase => ({
  title: 'one of somebody else',
  world: withLakes,
  ask: async (world) => {
    const id = await makeLake(world);
    const other = await world.addUser('bob@example.com');
    return {
      path: `${PATH}/${id}${suffix}`,
      headers: { Authorization: `Bearer ${await world.token(other)}` },
      ...(body !== undefined && { body }),
    };
  },
  caller: 'token',
  ...NOT_FOUND,
});
const NEEDS_SHARING = refused('public', {
  status: 403,
  message: 'Making a data lake public requires the scope datalake:share',
});

export const listDataLakes: readonly WireCase[] = [
  { title: 'is empty at first', world: withLakes, status: 200, body: { data: [], next_cursor: null } },
  {
    title: 'lists own ones and public ones',
    world: withLakes,
    ask: async (world) => {
      await makeLake(world, { ...WISH, is_public: true });
      const { key } = await world.issue({
        scopes: ['datalake:read'],
        userId: (await world.addUser('bob@example.com')).id,
      });
      return { path: `${PATH}?limit=1`, headers: { Authorization: `Bearer ${key}` } };
    },
    status: 200,
    body: { data: [lake({ is_public: true })], next_cursor: null },
  },
  {
    title: 'a limit that is none',
    world: withLakes,
    ask: { path: `${PATH}?limit=0` },
    ...refused('public', {
      status: 422,
      message: 'limit: expected a whole number from 1 to 100, got 1 characters of text',
    }),
  },
  switchedOff(),
];

export const createDataLake: readonly WireCase[] = [
  {
    title: 'creates one',
    world: withLakes,
    ask: { body: WISH },
    status: 201,
    body: lake(),
    everywhere: true,
  },
  {
    title: 'under an address of its own, for everybody',
    world: () => withLakes({ key: { scopes: ['datalake:write', 'datalake:share'] } }),
    ask: { body: { ...WISH, slug: 'notes', description: 'Wet.', is_public: true } },
    status: 201,
    body: lake({ slug: 'notes', datalake_tag: 'datalake:notes', description: 'Wet.', is_public: true }),
  },
  {
    title: 'of a name that is taken under another address',
    world: withLakes,
    ask: async (world) => {
      await makeLake(world, WISH);
      return { body: WISH };
    },
    status: 201,
    body: lake({
      slug: expect.stringMatching(/^field-notes-2026-[a-z0-9]{6}$/) as unknown,
      datalake_tag: expect.stringMatching(/^datalake:field-notes-2026-[a-z0-9]{6}$/) as unknown,
    }),
  },
  {
    title: 'for everybody without the right to share',
    world: withLakes,
    ask: { body: { ...WISH, is_public: true } },
    ...NEEDS_SHARING,
  },
  {
    title: 'under an address that is taken',
    world: withLakes,
    ask: async (world) => {
      await makeLake(world, WISH);
      return { body: { name: 'Other', slug: 'field-notes-2026' } };
    },
    ...refused('public', { status: 409, message: 'The slug is taken.' }),
  },
  ...[
    ['Upper', 'slug: expected 1 to 64 lower-case letters, digits and hyphens, got 5 characters of text'],
    [
      'a'.repeat(65),
      'slug: expected 1 to 64 lower-case letters, digits and hyphens, got 65 characters of text',
    ],
    ['0'.repeat(24), 'slug: expected something else than an id'],
  ].map(
    ([slug = '', message = '']): WireCase => ({
      title: `under the address ${slug}`,
      world: withLakes,
      ask: { body: { ...WISH, slug } },
      ...refused('public', { status: 422, message }),
    }),
  ),
  {
    title: 'for an organization that is not the caller’s',
    world: withLakes,
    ask: { body: { ...WISH, organization_id: AN_EARLIER_FILE } },
    ...refused('public', { status: 404, message: 'Organization not found' }),
  },
  {
    title: 'without a name',
    world: withLakes,
    ask: { body: { name: '' } },
    ...refused('public', {
      status: 422,
      message: 'name: expected at least 1 character, got 0 characters of text',
    }),
  },
  {
    title: 'with a field it does not know',
    world: withLakes,
    ask: { body: { ...WISH, colour: 'red' } },
    ...refused('public', { status: 422, message: 'Unrecognized key: "colour"' }),
  },
  switchedOff(WISH),
];

export const getDataLake: readonly WireCase[] = [
  { title: 'shows one', world: withLakes, ask: ofLake(), status: 200, body: lake(), everywhere: true },
  {
    title: 'shows one by its slug',
    world: withLakes,
    ask: async (world) => {
      await makeLake(world, WISH);
      return { path: `${PATH}/field-notes-2026` };
    },
    status: 200,
    body: lake(),
  },
  unknown(),
  foreign(),
  switchedOff(),
];

export const updateDataLake: readonly WireCase[] = [
  {
    title: 'changes what is named',
    world: withLakes,
    ask: ofLake('', { name: 'Old notes', description: 'Dry.', status: 'archived', is_public: false }),
    status: 200,
    body: lake({ name: 'Old notes', description: 'Dry.', status: 'archived' }),
    everywhere: true,
  },
  {
    title: 'for everybody without the right to share',
    world: withLakes,
    ask: ofLake('', { is_public: true }),
    ...NEEDS_SHARING,
  },
  {
    title: 'to a state that is not for callers',
    world: withLakes,
    ask: ofLake('', { status: 'deleting' }),
    ...refused('public', {
      status: 422,
      message: 'status: Invalid option: expected one of "active"|"archived", got 8 characters of text',
    }),
  },
  unknown({ name: 'x' }),
  foreign('', { name: 'x' }),
  switchedOff({ name: 'x' }),
];

export const deleteDataLake: readonly WireCase[] = [
  { title: 'deletes one', world: withLakes, ask: ofLake(), status: 204, body: '', everywhere: true },
  unknown(),
  foreign(),
  switchedOff(),
];

const fileOf =
  (isAdded: boolean) =>
  async (world: World): Promise<Partial<Asked>> => {
    const fileId = await saveFile(world, 'hello');
    const lakeId = await makeLake(world, WISH);
    if (isAdded) await addToLake(world, lakeId, fileId);
    return { path: `${PATH}/${lakeId}/files/${fileId}` };
  };

const unknownFile: WireCase = {
  title: 'an unknown file',
  world: withLakes,
  ask: ofLake(`/files/${AN_EARLIER_FILE}`),
  ...refused('public', { status: 404, message: 'File not found' }),
};

const anId = expect.stringMatching(/^[0-9a-f]{24}$/) as unknown;
const inLake = (status: string) => ({
  lake_id: anId,
  file_id: anId,
  file_name: 'notes.txt',
  ingestion_status: status,
  chunk_count: 0,
  vectorized_chunk_count: 0,
  error: null,
});
const contents = (files: number, bytes: number) => ({
  lake_id: anId,
  file_id: anId,
  file_count: files,
  total_size_bytes: bytes,
});

export const getDataLakeFile: readonly WireCase[] = [
  {
    title: 'shows one that waits',
    world: withLakes,
    ask: fileOf(true),
    status: 200,
    body: inLake('indexing'),
  },
  {
    title: 'shows one that is elsewhere',
    world: withLakes,
    ask: fileOf(false),
    status: 200,
    body: inLake('not_ingested'),
    everywhere: true,
  },
  {
    title: 'shows one that is ready',
    world: withLakes,
    ask: async (world) => {
      const { lakeId, fileIds } = await filledLake(world, { 'notes.txt': 'hello' });
      return { path: `${PATH}/${lakeId}/files/${fileIds['notes.txt']}` };
    },
    status: 200,
    body: { ...inLake('ready'), chunk_count: 1, vectorized_chunk_count: 1 },
  },
  unknownFile,
  unknown(),
  foreign(`/files/${AN_EARLIER_FILE}`),
  switchedOff(),
];

export const addDataLakeFile: readonly WireCase[] = [
  {
    title: 'adds one',
    world: withLakes,
    ask: fileOf(false),
    status: 200,
    body: contents(1, 5),
    everywhere: true,
  },
  {
    title: 'adds one twice, which is once',
    world: withLakes,
    ask: fileOf(true),
    status: 200,
    body: contents(1, 5),
  },
  unknownFile,
  unknown(),
  foreign(`/files/${AN_EARLIER_FILE}`),
  switchedOff(),
];

export const removeDataLakeFile: readonly WireCase[] = [
  {
    title: 'takes one out',
    world: withLakes,
    ask: fileOf(true),
    status: 200,
    body: contents(0, 0),
    everywhere: true,
  },
  {
    title: 'takes out one that is not in it',
    world: withLakes,
    ask: fileOf(false),
    status: 200,
    body: contents(0, 0),
  },
  unknown(),
  foreign(`/files/${AN_EARLIER_FILE}`),
  switchedOff(),
];

const QUERY = { query: 'Where do hedgehogs sleep?' };
const TEXTS = {
  'hedgehogs.txt': 'Hedgehogs sleep in heaps of leaves.',
  'taxes.txt': 'Income is taxed in the year it is earned.',
};
const ofFilled =
  (body: object) =>
  async (world: World): Promise<Partial<Asked>> => {
    const { lakeId } = await filledLake(world, TEXTS);
    return { path: `${PATH}/${lakeId}/search`, body };
  };
const found = (name: keyof typeof TEXTS) => ({
  chunk_id: expect.stringMatching(/^[0-9a-f]{24}:0$/) as unknown,
  file_id: anId,
  file_name: name,
  chunk_text: TEXTS[name],
  score: expect.closeTo(0.5, 0) as unknown,
});
const searched = (results: readonly object[], change: object = {}) => ({
  results,
  embedding_model: 'demo-embedding',
  partial_results: false,
  retrieval_unavailable: { indexing_files: 0, paused_files: 0 },
  ...change,
});

/** Embeds what a lake holds, and then no more. */
const failingLater = (kind: ProviderErrorKind) => (): WorldOptions => {
  const demo = createDemoProvider();
  const provider: ModelProvider = {
    ...demo,
    embed: async (request, options) => {
      if (request.inputs[0] === QUERY.query) throw new ProviderError(kind, 'secret words');
      return (await demo.embed?.(request, options)) ?? { embeddings: [], tokens: 0 };
    },
  };
  return withLakes({ models: [provider] });
};

export const searchDataLake: readonly WireCase[] = [
  {
    title: 'finds what fits',
    world: withLakes,
    ask: ofFilled({ ...QUERY, top_k: 1 }),
    status: 200,
    body: searched([found('hedgehogs.txt')]),
  },
  {
    title: 'finds nothing with tags that nothing has',
    world: withLakes,
    ask: ofFilled({ ...QUERY, tags: ['datalake:other'] }),
    status: 200,
    body: searched([]),
  },
  {
    title: 'finds nothing in an empty one, for nothing',
    world: () => withLakes({ credits: 0 }),
    ask: ofLake('/search', QUERY),
    status: 200,
    body: searched([]),
    everywhere: true,
  },
  {
    title: 'says what it could not look into yet',
    world: withLakes,
    ask: async (world) => {
      const { path = '' } = await fileOf(true)(world);
      return { path: `${path.slice(0, path.indexOf('/files'))}/search`, body: QUERY };
    },
    status: 200,
    body: searched([], {
      partial_results: true,
      retrieval_unavailable: { indexing_files: 1, paused_files: 0 },
    }),
  },
  {
    title: 'without a question',
    world: withLakes,
    ask: ofLake('/search', { query: '' }),
    ...refused('public', {
      status: 422,
      message: 'query: expected at least 1 character, got 0 characters of text',
    }),
  },
  ...[
    [{ top_k: 101 }, 'top_k: Too big: expected number to be <=100, got 101'],
    [{ top_k: 0 }, 'top_k: Too small: expected number to be >=1, got 0'],
    [{ min_score: 1.1 }, 'min_score: Too big: expected number to be <=1, got 1.1'],
    [
      { tags: new Array(101).fill('a') },
      'tags: Too big: expected array to have <=100 items, got a list of 101',
    ],
    [{ limit: 3 }, 'Unrecognized key: "limit"'],
  ].map(
    ([change, message]): WireCase => ({
      title: `with ${JSON.stringify(change).slice(0, 30)}`,
      world: withLakes,
      ask: ofLake('/search', { ...QUERY, ...(change as object) }),
      ...refused('public', { status: 422, message: message as string }),
    }),
  ),
  {
    title: 'with a provider that fails',
    world: failingLater('failed'),
    ask: ofFilled(QUERY),
    ...refused('public', {
      status: 502,
      message: 'The model gave no answer: the provider failed.',
      errorCode: 'provider_error',
    }),
  },
  {
    title: 'with a provider that has too much to do',
    world: failingLater('overloaded'),
    ask: ofFilled(QUERY),
    headers: { 'retry-after': '5' },
    ...refused('public', {
      status: 503,
      message: 'The model provider is overloaded. Try again shortly.',
      errorCode: 'provider_overloaded',
    }),
  },
  unknown(QUERY),
  foreign('/search', QUERY),
  switchedOff(QUERY),
];
