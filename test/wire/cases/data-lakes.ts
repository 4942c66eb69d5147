import { createDemoProvider } from '@questline/core';
import { FILES } from '@questline/core/internal';
import { type ModelProvider, ProviderError, type ProviderErrorKind } from '@questline/core/ports';
import { expect } from 'vitest';
import { addToLake, filledLake, makeLake, saveFile, withLakes } from '../../support/lakes.ts';
import type { TestApp, TestAppOptions } from '../../support/test-app.ts';
import type { Asked } from '../../support/wire.ts';
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
  (suffix = '', body?: object, input: object = WISH) =>
  async (app: TestApp): Promise<Partial<Asked>> => ({
    path: `${PATH}/${await makeLake(app, input)}${suffix}`,
    ...(body !== undefined && { body }),
  });

const NOT_FOUND = refused('public', { status: 404, message: 'Data lake not found' });
const unknown = (body?: object): WireCase => ({
  title: 'answers 404 for an unknown data lake',
  app: withLakes,
  ...(body !== undefined && { ask: { body } }),
  ...NOT_FOUND,
});
const switchedOff = (body?: object): WireCase => ({
  title: 'rejects while data lakes are disabled',
  ...(body !== undefined && { ask: { body } }),
  ...refused('public', { status: 403, message: 'Data lakes are switched off' }),
});
/** A data lake of another user is answered like an unknown one. */
const foreign = (suffix = '', body?: object): WireCase => ({
  title: 'answers 404 for a data lake of another user',
  app: withLakes,
  ask: async (app) => {
    const id = await makeLake(app);
    const other = await app.addUser('bob@example.com');
    return {
      path: `${PATH}/${id}${suffix}`,
      headers: { Authorization: `Bearer ${await app.token(other)}` },
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
  {
    title: 'lists no data lakes at first',
    app: withLakes,
    status: 200,
    body: { data: [], next_cursor: null },
  },
  {
    title: 'lists own and public data lakes',
    app: withLakes,
    ask: async (app) => {
      await makeLake(app, { ...WISH, is_public: true });
      const { key } = await app.issue({
        scopes: ['datalake:read'],
        userId: (await app.addUser('bob@example.com')).id,
      });
      return { path: `${PATH}?limit=1`, headers: { Authorization: `Bearer ${key}` } };
    },
    status: 200,
    body: { data: [lake({ is_public: true })], next_cursor: null },
  },
  {
    title: 'rejects an invalid limit',
    app: withLakes,
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
    title: 'creates a data lake',
    app: withLakes,
    ask: { body: WISH },
    status: 201,
    body: lake(),
    everywhere: true,
  },
  {
    title: 'creates a public data lake under its own slug',
    app: () => withLakes({ key: { scopes: ['datalake:write', 'datalake:share'] } }),
    ask: { body: { ...WISH, slug: 'notes', description: 'Wet.', is_public: true } },
    status: 201,
    body: lake({ slug: 'notes', datalake_tag: 'datalake:notes', description: 'Wet.', is_public: true }),
  },
  {
    title: 'creates a data lake with a used name under another slug',
    app: withLakes,
    ask: async (app) => {
      await makeLake(app, WISH);
      return { body: WISH };
    },
    status: 201,
    body: lake({
      slug: expect.stringMatching(/^field-notes-2026-[a-z0-9]{6}$/) as unknown,
      datalake_tag: expect.stringMatching(/^datalake:field-notes-2026-[a-z0-9]{6}$/) as unknown,
    }),
  },
  {
    title: 'rejects a public data lake without the right to share',
    app: withLakes,
    ask: { body: { ...WISH, is_public: true } },
    ...NEEDS_SHARING,
  },
  {
    title: 'rejects a slug that is in use',
    app: withLakes,
    ask: async (app) => {
      await makeLake(app, WISH);
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
    ['0'.repeat(24), 'slug: must not have the form of an id'],
  ].map(
    ([slug = '', message = '']): WireCase => ({
      title: `rejects the slug ${slug}`,
      app: withLakes,
      ask: { body: { ...WISH, slug } },
      ...refused('public', { status: 422, message }),
    }),
  ),
  {
    title: 'rejects an organization the caller does not belong to',
    app: withLakes,
    ask: { body: { ...WISH, organization_id: AN_EARLIER_FILE } },
    ...refused('public', { status: 404, message: 'Organization not found' }),
  },
  {
    title: 'rejects a data lake without a name',
    app: withLakes,
    ask: { body: { name: '' } },
    ...refused('public', {
      status: 422,
      message: 'name: expected at least 1 character, got 0 characters of text',
    }),
  },
  {
    title: 'rejects an unknown field',
    app: withLakes,
    ask: { body: { ...WISH, colour: 'red' } },
    ...refused('public', { status: 422, message: 'Unrecognized key: "colour"' }),
  },
  switchedOff(WISH),
];

export const getDataLake: readonly WireCase[] = [
  {
    title: 'returns a data lake',
    app: withLakes,
    ask: ofLake(),
    status: 200,
    body: lake(),
    everywhere: true,
  },
  {
    title: 'returns a data lake by its slug',
    app: withLakes,
    ask: async (app) => {
      await makeLake(app, WISH);
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
    title: 'changes the named fields',
    app: withLakes,
    ask: ofLake('', { name: 'Old notes', description: 'Dry.', status: 'archived', is_public: false }),
    status: 200,
    body: lake({ name: 'Old notes', description: 'Dry.', status: 'archived' }),
    everywhere: true,
  },
  {
    title: 'rejects publication without the right to share',
    app: withLakes,
    ask: ofLake('', { is_public: true }),
    ...NEEDS_SHARING,
  },
  {
    title: 'rejects a state that callers cannot set',
    app: withLakes,
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
  { title: 'deletes a data lake', app: withLakes, ask: ofLake(), status: 204, body: '', everywhere: true },
  unknown(),
  foreign(),
  switchedOff(),
];

const makeFile =
  (isAdded: boolean) =>
  async (app: TestApp): Promise<Partial<Asked>> => {
    const fileId = await saveFile(app, 'hello');
    const lakeId = await makeLake(app, WISH);
    if (isAdded) await addToLake(app, lakeId, fileId);
    return { path: `${PATH}/${lakeId}/files/${fileId}` };
  };

const unknownFile: WireCase = {
  title: 'answers 404 for an unknown file',
  app: withLakes,
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
    title: 'returns a waiting file',
    app: withLakes,
    ask: makeFile(true),
    status: 200,
    body: inLake('indexing'),
  },
  {
    title: 'answers 404 for a file of another data lake',
    app: withLakes,
    ask: makeFile(false),
    status: 200,
    body: inLake('not_ingested'),
    everywhere: true,
  },
  {
    title: 'returns a file that is ready',
    app: withLakes,
    ask: async (app) => {
      const { lakeId, fileIds } = await filledLake(app, { 'notes.txt': 'hello' });
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

export const listDataLakeFiles: readonly WireCase[] = [
  {
    title: 'lists the files with their status',
    app: withLakes,
    ask: async (app) => {
      const { path = '' } = await makeFile(true)(app);
      return { path: path.slice(0, path.lastIndexOf('/')) };
    },
    status: 200,
    body: { data: [inLake('indexing')], next_cursor: null },
    everywhere: true,
  },
  {
    title: 'lists no files of an empty data lake',
    app: withLakes,
    ask: ofLake('/files'),
    status: 200,
    body: { data: [], next_cursor: null },
  },
  unknown(),
  foreign('/files'),
  switchedOff(),
];

export const addDataLakeFile: readonly WireCase[] = [
  {
    title: 'adds a file',
    app: withLakes,
    ask: makeFile(false),
    status: 200,
    body: contents(1, 5),
    everywhere: true,
  },
  {
    title: 'adds a file once when it is added twice',
    app: withLakes,
    ask: makeFile(true),
    status: 200,
    body: contents(1, 5),
  },
  {
    title: 'rejects a file that is not clean',
    app: withLakes,
    ask: async (app) => {
      const fileId = await saveFile(app, 'hello');
      await app.services.store.collection(FILES).update(fileId, { status: 'scanning' });
      return { path: `${PATH}/${await makeLake(app, WISH)}/files/${fileId}` };
    },
    ...refused('public', {
      status: 422,
      errorCode: 'unsupported_input',
      message: 'A file that is not clean cannot be added',
    }),
  },
  unknownFile,
  unknown(),
  foreign(`/files/${AN_EARLIER_FILE}`),
  switchedOff(),
];

export const removeDataLakeFile: readonly WireCase[] = [
  {
    title: 'removes a file',
    app: withLakes,
    ask: makeFile(true),
    status: 200,
    body: contents(0, 0),
    everywhere: true,
  },
  {
    title: 'removes a file that is not in the data lake',
    app: withLakes,
    ask: makeFile(false),
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
  async (app: TestApp): Promise<Partial<Asked>> => {
    const { lakeId } = await filledLake(app, TEXTS);
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

/** A model that embeds the files of the lake and fails afterwards. */
const failingLater = (kind: ProviderErrorKind) => (): TestAppOptions => {
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
    title: 'finds matching passages',
    app: withLakes,
    ask: ofFilled({ ...QUERY, top_k: 1 }),
    status: 200,
    body: searched([found('hedgehogs.txt')]),
  },
  {
    title: 'finds nothing with unused tags',
    app: withLakes,
    ask: ofFilled({ ...QUERY, tags: ['datalake:other'] }),
    status: 200,
    body: searched([]),
  },
  {
    title: 'finds nothing in an empty data lake, free of charge',
    app: () => withLakes({ credits: 0 }),
    ask: ofLake('/search', QUERY),
    status: 200,
    body: searched([]),
    everywhere: true,
  },
  {
    title: 'reports files that are not searchable yet',
    app: withLakes,
    ask: async (app) => {
      const { path = '' } = await makeFile(true)(app);
      return { path: `${path.slice(0, path.indexOf('/files'))}/search`, body: QUERY };
    },
    status: 200,
    body: searched([], {
      partial_results: true,
      retrieval_unavailable: { indexing_files: 1, paused_files: 0 },
    }),
  },
  {
    title: 'rejects a search without a query',
    app: withLakes,
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
      title: `rejects ${JSON.stringify(change).slice(0, 30)}`,
      app: withLakes,
      ask: ofLake('/search', { ...QUERY, ...(change as object) }),
      ...refused('public', { status: 422, message: message as string }),
    }),
  ),
  {
    title: 'reports a provider that fails',
    app: failingLater('failed'),
    ask: ofFilled(QUERY),
    ...refused('public', {
      status: 502,
      message: 'The model gave no answer: the provider failed.',
      errorCode: 'provider_error',
    }),
  },
  {
    title: 'reports an overloaded provider',
    app: failingLater('overloaded'),
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
