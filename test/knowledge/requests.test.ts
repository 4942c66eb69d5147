import { LAKE_FILES, LAKES } from '@questline/core/internal';
import { ProviderError } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { ADDED, AWAY, FILE, LAKE, meanwhile, openLakeApp, toId } from '../support/lake-requests.ts';
import { addOrganization } from '../support/people.ts';

it.each([
  ['GET', ''],
  ['POST', '', { name: 'x' }],
  ['GET', `/${LAKE}`],
  ['PATCH', `/${LAKE}`, { name: 'x' }],
  ['DELETE', `/${LAKE}`],
  ['GET', `/${LAKE}/files`],
  ['GET', `/${LAKE}/files/${FILE}`],
  ['POST', `/${LAKE}/files/${FILE}`],
  ['DELETE', `/${LAKE}/files/${FILE}`],
  ['POST', `/${LAKE}/search`, { query: 'x' }],
] as const)('refuses %s of data lakes%s while they are switched off', async (method, path, body?) => {
  const { call, addLake, addFile, addLakeFile, services } = await openLakeApp();
  await Promise.all([addLake(), addFile(), addLakeFile()]);
  await services.adminSettings.set('EnableDataLakes', false);
  expect((await call(method, path, body)).status).toBe(403);
});

describe('a new data lake', () => {
  it('is a draft with a slug of its name', async () => {
    const { call, clock, lakes } = await openLakeApp();
    const { status, body } = await call('POST', '', { name: 'Große Bücher!' });
    const now = new Date(clock.now()).toISOString();
    expect([status, body]).toEqual([
      201,
      {
        ...{
          id: body.id,
          name: 'Große Bücher!',
          slug: 'gro-e-bucher',
          datalake_tag: 'datalake:gro-e-bucher',
        },
        ...{ description: null, organization_id: null, is_public: false, built_in: false, status: 'draft' },
        ...{ file_count: 0, total_size_bytes: 0, last_sync_at: null, created_at: now, updated_at: now },
      },
    ]);
    expect((await call('GET', `/${body.slug}`)).body).toEqual(body);
    expect((await lakes.get(body.id))?.description).toBeUndefined();
  });

  it('has its own slug, description and readers', async () => {
    const app = await openLakeApp();
    const { id: organization_id } = await addOrganization(app, { name: 'Club', readerIds: [app.user.id] });
    const input = {
      name: 'Papers',
      slug: 'mine',
      description: 'All of them',
      is_public: true,
      organization_id,
    };
    expect((await app.call('POST', '', input)).body).toMatchObject(input);
    const other = await addOrganization(app, {
      name: 'Other',
      ownerId: (await app.addUser('b@example.com')).id,
    });
    const refused = await app.call('POST', '', { name: 'x', organization_id: other.id });
    expect([refused.status, refused.body.error]).toEqual([404, 'Organization not found']);
  });

  it('is published only with the scope for it', async () => {
    const app = await openLakeApp({ key: { scopes: ['datalake:write'] } });
    const ask = async (method: string, path: string, body: object) =>
      (await app.ask(method, `/api/v1/data-lakes${path}`, { body })).status;
    expect(await ask('POST', '', { name: 'a', is_public: true })).toBe(403);
    expect(await ask('POST', '', { name: 'a' })).toBe(201);
    await app.addLake();
    expect(await ask('PATCH', `/${LAKE}`, { is_public: true })).toBe(403);
    expect(await ask('PATCH', `/${LAKE}`, { is_public: false })).toBe(200);
    expect(await ask('PATCH', `/${LAKE}`, { name: 'b' })).toBe(200);
  });

  it('has a slug that no other has, and that looks like no id', async () => {
    const secrets = ['AAAAAA', 'AAAAAA', 'BBBBBB', 'CCCCCC'];
    const { call } = await openLakeApp({
      change: ({ ids }) => ({
        ids: {
          ...ids,
          secret: (length) => (length === 6 ? secrets.shift() : undefined) ?? ids.secret(length),
        },
      }),
    });
    const slugs: string[] = [];
    const id = 'a'.repeat(24);
    for (const name of ['Papers', 'Papers', 'Papers', id])
      slugs.push((await call('POST', '', { name })).body.slug);
    expect(slugs).toEqual(['papers', 'papers-aaaaaa', 'papers-bbbbbb', `${id}-cccccc`]);
    expect((await call('POST', '', { name: 'x', slug: 'papers' })).status).toBe(409);
    const refused = await call('POST', '', { name: 'x', slug: id });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringContaining('slug')]);
    expect((await call('GET', '')).body.data.map(({ slug }: { slug: string }) => slug)).toEqual(slugs);
  });
});

describe('a change of a data lake', () => {
  it('keeps what it does not name', async () => {
    const { call, addLake, clock } = await openLakeApp();
    await addLake({ description: 'old' });
    const before = (await call('GET', `/${LAKE}`)).body;
    const updated_at = new Date(clock.now()).toISOString();
    const named = await call('PATCH', `/${LAKE}`, { name: 'New' });
    expect(named.body).toEqual({ ...before, name: 'New', updated_at });
    const described = await call('PATCH', `/${LAKE}`, { description: 'new' });
    expect(described.body).toEqual({ ...named.body, description: 'new' });
    const { body } = await call('PATCH', `/${LAKE}`, { is_public: true, status: 'archived' });
    expect(body).toEqual({ ...described.body, is_public: true, status: 'archived' });
  });

  it('changes none that is being deleted, or gone', async () => {
    for (const isGone of [true, false]) {
      const app: Awaited<ReturnType<typeof openLakeApp>> = await openLakeApp({
        store: (store) =>
          meanwhile(store, LAKES, () =>
            isGone ? app.lakes.take(LAKE) : app.lakes.update(LAKE, { status: 'deleting' }),
          ),
      });
      await app.addLake();
      expect((await app.call('PATCH', `/${LAKE}`, { name: 'x' })).status).toBe(404);
      expect((await app.lakes.get(LAKE))?.name).toBe(isGone ? undefined : 'Papers');
    }
  });

  it('resumes the files that waited for it', async () => {
    const { call, addLake, addLakeFile, lakes, lakeFiles, clock, listJobs } = await openLakeApp();
    await addLake({ status: 'archived' });
    await addLakeFile({ status: 'paused', error: 'The data lake is archived.' });
    await addLakeFile({ id: toId(4), fileId: toId(4), status: 'failed' });
    await addLakeFile({ id: toId(5), lakeId: toId(9), status: 'paused' });
    await call('PATCH', `/${LAKE}`, { name: 'x' });
    expect(await listJobs()).toEqual([]);
    await call('PATCH', `/${LAKE}`, { status: 'active' });
    expect(await lakeFiles.get(ADDED)).toMatchObject({ status: 'indexing', updatedAt: clock.now() });
    expect((await lakeFiles.get(ADDED))?.error).toBeUndefined();
    expect([(await lakeFiles.get(toId(4)))?.status, (await lakeFiles.get(toId(5)))?.status]).toEqual([
      ...['failed', 'paused'],
    ]);
    expect(await listJobs()).toEqual([`data-lakes.ingest:${ADDED}`]);
    await lakeFiles.update(ADDED, { status: 'paused' });
    await call('PATCH', `/${LAKE}`, { status: 'active' });
    expect([(await lakeFiles.get(ADDED))?.status, (await lakes.get(LAKE))?.status]).toEqual([
      'paused',
      'active',
    ]);
  });

  it('resumes no file that is ready meanwhile', async () => {
    const app: Awaited<ReturnType<typeof openLakeApp>> = await openLakeApp({
      store: (store) => meanwhile(store, LAKE_FILES, () => app.lakeFiles.update(ADDED, { status: 'ready' })),
    });
    await app.addLake({ status: 'archived' });
    await app.addLakeFile({ status: 'paused' });
    await app.call('PATCH', `/${LAKE}`, { status: 'active' });
    expect([(await app.lakeFiles.get(ADDED))?.status, await app.listJobs()]).toEqual(['ready', []]);
  });

  it('is repeated if its files cannot be resumed, or it cannot be deleted', async () => {
    const { call, addLake, addLakeFile } = await openLakeApp({ change: AWAY });
    await addLake({ status: 'archived' });
    await addLakeFile({ status: 'paused' });
    expect((await call('PATCH', `/${LAKE}`, { status: 'active' })).status).toBe(500);
    expect((await call('DELETE', `/${LAKE}`)).status).toBe(500);
  });
});

describe('a deletion of a data lake', () => {
  it('begins at once, and is done by a job', async () => {
    const { call, addLake, lakes, clock, listJobs } = await openLakeApp();
    await addLake();
    expect((await call('DELETE', `/${LAKE}`)).status).toBe(204);
    expect(await lakes.get(LAKE)).toMatchObject({ status: 'deleting', updatedAt: clock.now() });
    expect(await listJobs()).toEqual([`data-lakes.purge:${LAKE}`]);
  });

  it('finds none that is gone', async () => {
    const app: Awaited<ReturnType<typeof openLakeApp>> = await openLakeApp({
      store: (store) => meanwhile(store, LAKES, () => app.lakes.take(LAKE)),
    });
    await app.addLake();
    expect([(await app.call('DELETE', `/${LAKE}`)).status, await app.listJobs()]).toEqual([404, []]);
  });
});

it('lists data lakes by age, by the cursor of their reader', async () => {
  const { call, addLake, addUser, token, ask } = await openLakeApp();
  for (const at of [3, 2, 1]) await addLake({ id: toId(at), createdAt: 10 - at, isPublic: true });
  const { data, next_cursor } = (await call('GET', '?limit=2')).body;
  const rest = await call('GET', `?limit=2&cursor=${next_cursor}`);
  expect([...data, ...rest.body.data].map(({ id }) => id)).toEqual([toId(3), toId(2), toId(1)]);
  const credential = await token(await addUser('bob@example.com'));
  const getStatus = async (path: string, who?: string) =>
    (await ask('GET', `/api/v1/${path}?cursor=${next_cursor}`, { credential: who ?? (await token()) }))
      .status;
  expect([await getStatus('data-lakes', credential), await getStatus('files')]).toEqual([422, 422]);
});

describe('a search in a data lake', () => {
  const search = { query: 'apples' };

  it('says which files it could not include', async () => {
    const { call, addLake, addLakeFile, lakeFiles } = await openLakeApp();
    await addLake();
    const empty = { results: [], embedding_model: 'vectors', partial_results: false };
    const none = { indexing_files: 0, paused_files: 0 };
    expect((await call('POST', `/${LAKE}/search`, search)).body).toEqual({
      ...{ ...empty, retrieval_unavailable: none },
    });
    await addLakeFile({ id: toId(29), fileId: toId(29), status: 'paused' });
    expect((await call('POST', `/${LAKE}/search`, search)).body.partial_results).toBe(true);
    await lakeFiles.take(toId(29));
    const states = ['indexing', 'indexing', 'paused', 'ready', 'failed'] as const;
    for (const [at, status] of states.entries())
      await addLakeFile({ id: toId(20 + at), fileId: toId(20 + at), status });
    await addLakeFile({ id: toId(30), lakeId: toId(9), status: 'paused' });
    await addLakeFile({ id: toId(31), lakeId: toId(9), fileId: toId(31), status: 'indexing' });
    expect((await call('POST', `/${LAKE}/search`, search)).body).toEqual({
      ...{ ...empty, partial_results: true, retrieval_unavailable: { indexing_files: 2, paused_files: 1 } },
    });
    const without = await openLakeApp({ hasModel: false });
    await without.addLake();
    expect((await without.call('POST', `/${LAKE}/search`, search)).body.embedding_model).toBe('');
  });

  it('returns passages, and is charged once for its request', async () => {
    const signals: unknown[] = [];
    const keys: string[] = [];
    const { call, addLake, addLakeFile, addFile, services, ledger, account } = await openLakeApp({
      async embed(signal) {
        signals.push(signal?.aborted);
        return [1, 0];
      },
      change: (own) => ({
        ledger: {
          ...own.ledger,
          hold(request) {
            keys.push(request.key);
            return own.ledger.hold(request);
          },
        },
        vectors: {
          ...own.vectors,
          nearest(query, options) {
            signals.push(options?.signal?.aborted);
            return own.vectors.nearest(query, options);
          },
        },
      }),
    });
    await Promise.all([addLake({ embeddingModel: 'vectors' }), addFile(), addLakeFile({ status: 'ready' })]);
    const about = { lakeId: LAKE, fileId: ADDED, place: 0, text: 'red apples', tags: [], words: ['apples'] };
    await services.vectors.upsert([{ ...about, id: `${ADDED}:0`, vector: [1, 0] }]);
    for (let round = 0; round < 2; round += 1) {
      const { body } = await call('POST', `/${LAKE}/search`, search);
      const result = { chunk_id: `${ADDED}:0`, file_id: FILE, file_name: 'a.txt', chunk_text: 'red apples' };
      expect(body.results).toEqual([{ ...result, score: 1 }]);
    }
    expect(signals).toEqual([false, false, false, false]);
    expect(new Set(keys).size).toBe(2);
    const charges = await ledger.charges({ account }, 9);
    expect(new Set(charges.map(({ requestId }) => requestId)).size).toBe(2);
    expect(charges).toMatchObject([{ operation: 'searchDataLake' }, { operation: 'searchDataLake' }]);
  });

  it('fails like its model, without credit, and while the service shuts down', async () => {
    const app = await openLakeApp({ embed: () => Promise.reject(new ProviderError('failed', 'secret')) });
    await app.addLake({ embeddingModel: 'vectors' });
    const failed = await app.call('POST', `/${LAKE}/search`, search);
    expect([failed.status, failed.body.errorCode]).toEqual([502, 'provider_error']);
    expect(JSON.stringify(failed.body)).not.toContain('secret');
    const poor = await openLakeApp({ credits: 0 });
    await poor.addLake({ embeddingModel: 'vectors' });
    const refused = await poor.call('POST', `/${LAKE}/search`, search);
    expect([refused.status, refused.body.errorCode]).toEqual([422, 'insufficient_credits']);
    app.services.admissionControl.close();
    expect((await app.call('POST', `/${LAKE}/search`, search)).status).toBe(503);
  });

  it('ends when its client leaves', async () => {
    const client = new AbortController();
    let given: AbortSignal | undefined;
    const app = await openLakeApp({
      async embed(signal) {
        given = signal;
        client.abort();
        throw new ProviderError('failed', 'aborted');
      },
    });
    await app.addLake({ embeddingModel: 'vectors' });
    const answer = await app.ask('POST', `/api/v1/data-lakes/${LAKE}/search`, {
      ...{ body: search, credential: await app.token(), signal: client.signal },
    });
    await app.settle();
    expect([answer.status, given?.aborted, app.incidents]).toEqual([400, true, []]);
  });
});
