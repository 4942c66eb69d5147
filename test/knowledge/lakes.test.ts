import { createDemoProvider, USERS } from '@questline/core';
import { LAKE_FILES, LAKES } from '@questline/core/internal';
import { type ModelProvider, ProviderError, type ProviderErrorKind } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { addToLake, filledLake, ingest, makeLake, saveFile, withLakes } from '../support/lakes.ts';
import { addOrganization } from '../support/people.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const PATH = '/api/v1/data-lakes';

async function as(app: TestApp, email: string): Promise<{ id: string; token: string }> {
  const user = await app.addUser(email);
  await app.ledger.grant({ account: `user:${user.id}`, amount: 1_000_000, key: email, reason: 'start' });
  return { id: user.id, token: await app.token(user) };
}

async function json(answer: Response): Promise<Record<string, unknown>> {
  return (await answer.json()) as Record<string, unknown>;
}

async function getState(app: TestApp, lakeId: string, fileId: string): Promise<Record<string, unknown>> {
  return json(await app.ask('GET', `${PATH}/${lakeId}/files/${fileId}`, { credential: await app.token() }));
}

async function search(
  app: TestApp,
  lakeId: string,
  body: object,
  credential?: string,
): Promise<{ file_name: string; chunk_text: string; score: number }[]> {
  const answer = await app.ask('POST', `${PATH}/${lakeId}/search`, {
    body,
    credential: credential ?? (await app.token()),
  });
  expect(answer.status).toBe(200);
  return (await json(answer)).results as { file_name: string; chunk_text: string; score: number }[];
}

const STORIES = {
  'hedgehog.txt': 'A hedgehog sleeps all winter in a heap of leaves.',
  'sailor.md': '---\ntags: [sea]\n---\nThe sailor crossed the ocean in a small boat.',
  'bread.txt': 'Bread rises when yeast eats sugar.',
};

describe('access to a data lake', () => {
  it('lets readers search and view, and only the owner change', async () => {
    const app = await createTestApp(withLakes());
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const reader = await as(app, 'reader@example.com');
    const stranger = await as(app, 'stranger@example.com');
    await app.services.store.collection(LAKES).update(lakeId, { readerIds: [reader.id] });
    const file = `/files/${fileIds['bread.txt']}`;
    const looks = [
      ['GET', '', undefined],
      ['GET', file, undefined],
      ['POST', '/search', { query: 'bread' }],
    ] as const;
    const changes = [
      ['PATCH', '', { name: 'mine' }],
      ['POST', file, undefined],
      ['DELETE', file, undefined],
      ['DELETE', '', undefined],
    ] as const;
    const getStatus = async (
      credential: string,
      [method, path, body]: (typeof looks | typeof changes)[number],
    ) => {
      const answer = await app.ask(method, `${PATH}/${lakeId}${path}`, {
        credential,
        ...(body && { body }),
      });
      return answer.status;
    };
    for (const look of looks) {
      expect(await getStatus(reader.token, look)).toBe(200);
      expect(await getStatus(stranger.token, look)).toBe(404);
    }
    for (const change of changes) {
      expect(await getStatus(reader.token, change)).toBe(404);
      expect(await getStatus(stranger.token, change)).toBe(404);
    }
    const listed = async (credential: string) =>
      ((await json(await app.ask('GET', PATH, { credential }))).data as unknown[]).length;
    expect([await listed(reader.token), await listed(stranger.token)]).toEqual([1, 0]);

    const shared = await app.ask('PATCH', `${PATH}/${lakeId}`, {
      body: { is_public: true },
      credential: await app.token(),
    });
    expect(shared.status).toBe(200);
    for (const look of looks) expect(await getStatus(stranger.token, look)).toBe(200);
    for (const change of changes) expect(await getStatus(stranger.token, change)).toBe(404);
    expect(await listed(stranger.token)).toBe(1);
  });

  it('lets members of its organization read and administrators change', async () => {
    const app = await createTestApp(withLakes());
    const member = await as(app, 'member@example.com');
    const admin = await as(app, 'admin@example.com');
    const stranger = await as(app, 'stranger@example.com');
    const organization = await addOrganization(app, {
      name: 'Club',
      readerIds: [member.id],
      writerIds: [admin.id],
    });
    const lakeId = await makeLake(app, { name: 'Club papers', organization_id: organization.id });
    const tried = async (method: string, credential: string, body?: object) =>
      (await app.ask(method, `${PATH}/${lakeId}`, { credential, ...(body && { body }) })).status;
    expect(await tried('GET', member.token)).toBe(200);
    expect(await tried('PATCH', member.token, { name: 'x' })).toBe(404);
    expect(await tried('PATCH', admin.token, { name: 'x' })).toBe(200);
    expect(await tried('GET', stranger.token)).toBe(404);
    expect((await json(await app.ask('GET', PATH, { credential: member.token }))).data).toHaveLength(1);
    expect(await tried('DELETE', admin.token)).toBe(204);
  });

  it('rejects files that the user who adds them cannot read', async () => {
    const app = await createTestApp(withLakes());
    const other = await as(app, 'other@example.com');
    const fileId = await saveFile(app, 'secret', { ownerId: other.id });
    const lakeId = await makeLake(app);
    const answer = await app.ask('POST', `${PATH}/${lakeId}/files/${fileId}`, {
      credential: await app.token(),
    });
    expect(answer.status).toBe(404);
    expect(
      (await app.ask('GET', `${PATH}/${lakeId}/files/${fileId}`, { credential: await app.token() })).status,
    ).toBe(404);
  });
});

describe('data lake search', () => {
  it('finds by meaning and words, above the minimum score, with the requested tags only', async () => {
    const app = await createTestApp(withLakes());
    const { lakeId } = await filledLake(app, STORIES);
    const names = async (body: object) => (await search(app, lakeId, body)).map(({ file_name }) => file_name);
    expect((await names({ query: 'where do hedgehogs sleep in winter' }))[0]).toBe('hedgehog.txt');
    expect(await names({ query: 'yeast', top_k: 1 })).toEqual(['bread.txt']);
    expect(await names({ query: 'boat', tags: ['sea'], min_score: -1 })).toEqual(['sailor.md']);
    expect(await names({ query: 'boat', tags: ['datalake:papers'], min_score: -1 })).toHaveLength(3);
    expect(await names({ query: 'boat', tags: [], min_score: -1 })).toHaveLength(3);
    expect(await names({ query: 'hedgehog', min_score: 0.99 })).toEqual([]);
    for (const { score } of await search(app, lakeId, { query: 'sugar', min_score: 0.1 })) {
      expect(score).toBeGreaterThanOrEqual(0.1);
    }
  });

  it.each(['!!!', ' ', '😀', '%'])('finds nothing for %j, which has no tokens', async (query) => {
    const app = await createTestApp(withLakes());
    const { lakeId } = await filledLake(app, STORIES);
    expect(await search(app, lakeId, { query, min_score: -1 })).toEqual([]);
  });

  it('shows nothing of a removed or deleted file', async () => {
    const app = await createTestApp(withLakes());
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const credential = await app.token();
    await app.ask('DELETE', `${PATH}/${lakeId}/files/${fileIds['bread.txt']}`, { credential });
    expect(await search(app, lakeId, { query: 'yeast', min_score: -1 })).toHaveLength(2);
    const { key } = await app.issue({ scopes: ['files:write'] });
    await app.ask('DELETE', `/api/v1/files/${fileIds['sailor.md']}`, { credential: key });
    expect(await search(app, lakeId, { query: 'sailor', min_score: -1 })).toMatchObject([
      { file_name: 'hedgehog.txt' },
    ]);
    await app.clock.advance(2000);
    await app.settle();
    expect(await app.services.vectors.count({ lakeId })).toBe(1);
  });

  it('charges the caller once', async () => {
    const app = await createTestApp(withLakes());
    const { lakeId } = await filledLake(app, STORIES);
    await search(app, lakeId, { query: 'yeast' });
    const charges = await app.ledger.charges({ account: app.account }, 10);
    expect(charges.map(({ operation, status }) => [operation, status])).toEqual([
      ['searchDataLake', 'settled'],
      ...new Array(3).fill(['addDataLakeFile', 'settled']),
    ]);
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });
});

/** The offline model with failures on request. */
function createFailingProvider(): {
  provider: ModelProvider;
  fail(kind: ProviderErrorKind | undefined): void;
  calls(): number;
} {
  const demo = createDemoProvider();
  let failure: ProviderErrorKind | undefined;
  let calls = 0;
  return {
    provider: {
      ...demo,
      embed: async (request, options) => {
        calls += 1;
        if (failure !== undefined) throw new ProviderError(failure, 'secret words');
        return (await demo.embed?.(request, options)) ?? { embeddings: [], tokens: 0 };
      },
    },
    fail(kind) {
      failure = kind;
    },
    calls: () => calls,
  };
}

describe('ingestion of a file', () => {
  it.each([
    [
      'of an unsupported type',
      'image/svg+xml',
      'x',
      'Text extraction does not support files of the type image/svg+xml.',
    ],
    ['without words', 'text/plain', ' ... ', 'The file contains no text.'],
  ])('fails with a reason for a file %s', async (_, mimeType, text, error) => {
    const app = await createTestApp(withLakes());
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, text, { mimeType });
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'failed', error });
  });

  it('waits for credit and resumes on request', async () => {
    const app = await createTestApp(withLakes({ credits: 0 }));
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'Some words that cost something.');
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({
      ingestion_status: 'paused',
      chunk_count: 1,
      vectorized_chunk_count: 0,
      // The reason is read by all who may read the lake.
      error: 'Insufficient credits.',
    });
    await app.ledger.grant({ account: app.account, amount: 1_000_000, key: 'more', reason: 'more' });
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready', error: null });
    const { held, posted } = await app.ledger.balance(app.account);
    expect(held).toBe(0);
    expect(posted).toBeLessThan(1_000_000);
  });

  it.each([
    ['rejected_key', 'paused', 'No configured key gives access to the embedding model.'],
    ['invalid_request', 'failed', 'The embedding model rejected the text of this file.'],
  ] as const)('stops when the provider reports %s', async (kind, status, error) => {
    const { provider, fail } = createFailingProvider();
    const app = await createTestApp(withLakes({ models: [provider] }));
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'Some words.');
    fail(kind);
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: status, error });
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0, posted: 1_000_000_000 });
    fail(undefined);
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready', error: null });
  });

  it('ends free of charge when its text has no tokens', async () => {
    const { provider } = createFailingProvider();
    const mute: ModelProvider = {
      ...provider,
      embed: async ({ inputs }) => ({ embeddings: inputs.map(() => [0, 0]), tokens: 1 }),
    };
    const app = await createTestApp(withLakes({ models: [mute] }));
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'Some words.');
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({
      ingestion_status: 'failed',
      error: 'The embedding model rejected the text of this file.',
    });
    expect(await app.ledger.balance(app.account)).toMatchObject({ held: 0, posted: 1_000_000_000 });
  });

  it('retries a provider after an outage and charges once', async () => {
    const { provider, fail, calls } = createFailingProvider();
    const app = await createTestApp(withLakes({ models: [provider] }));
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'Some words.');
    fail('overloaded');
    await addToLake(app, lakeId, fileId);
    await app.api.start();
    while (calls() === 0) await app.settle();
    await app.settle();
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'indexing' });
    fail(undefined);
    await app.clock.advance(2000);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready' });
    const settled = await app.ledger.charges({ account: app.account }, 10);
    expect(settled.filter(({ status }) => status === 'settled')).toHaveLength(1);
  });

  it('pauses and resumes with its lake', async () => {
    const app = await createTestApp(withLakes());
    const lakeId = await makeLake(app);
    const credential = await app.token();
    const change = (status: string) =>
      app.ask('PATCH', `${PATH}/${lakeId}`, { body: { status }, credential });
    await change('archived');
    const fileId = await saveFile(app, 'Some words.');
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'paused' });
    await change('active');
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready' });
  });

  it('leaves nothing when the file is removed during it', async () => {
    const { provider } = createFailingProvider();
    let remove = async (): Promise<unknown> => undefined;
    const removing: ModelProvider = {
      ...provider,
      embed: async (request, options) => {
        await remove();
        return (await provider.embed?.(request, options)) ?? { embeddings: [], tokens: 0 };
      },
    };
    const app = await createTestApp(withLakes({ models: [removing] }));
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'Some words.');
    const credential = await app.token();
    await addToLake(app, lakeId, fileId);
    remove = () => app.ask('DELETE', `${PATH}/${lakeId}/files/${fileId}`, { credential });
    await ingest(app);
    for (let rounds = 0; rounds < 100; rounds += 1) await app.settle();
    expect(await app.services.vectors.count({ lakeId })).toBe(0);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'not_ingested' });
    expect((await app.ledger.balance(app.account)).held).toBe(0);
  });

  it('resumes when the process ended before the job was enqueued', async () => {
    const app = await createTestApp(withLakes());
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, 'Some words.');
    const { queue } = app.services;
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = async () => ({ id: 'lost', added: true });
    await addToLake(app, lakeId, fileId);
    queue.enqueue = enqueue;
    await app.api.start();
    await app.clock.advance(300_000);
    await ingest(app);
    expect(await getState(app, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready' });
  });

  it('splits long files, shows progress and stores every chunk once', async () => {
    const app = await createTestApp(withLakes());
    const lakeId = await makeLake(app);
    const text = Array.from({ length: 3000 }, (_, line) => `Line ${line} is about subject${line}.`).join(
      '\n',
    );
    const fileId = await saveFile(app, text);
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    const state = await getState(app, lakeId, fileId);
    expect(state).toMatchObject({ ingestion_status: 'ready' });
    expect(state.chunk_count).toBeGreaterThan(64);
    expect(state.vectorized_chunk_count).toBe(state.chunk_count);
    expect(await app.services.vectors.count({ lakeId })).toBe(state.chunk_count);
    const [best] = await search(app, lakeId, { query: 'subject2345' });
    expect(best?.chunk_text).toContain('subject2345');
  });
});

it('deletes a lake with its index and keeps its files', async () => {
  const app = await createTestApp(withLakes());
  const { lakeId, fileIds } = await filledLake(app, STORIES);
  const credential = await app.token();
  expect((await app.ask('DELETE', `${PATH}/${lakeId}`, { credential })).status).toBe(204);
  for (let rounds = 0; rounds < 100; rounds += 1) await app.settle();
  expect((await app.ask('GET', `${PATH}/${lakeId}`, { credential })).status).toBe(404);
  expect(await app.services.vectors.count({ lakeId })).toBe(0);
  expect(await app.services.store.collection(LAKE_FILES).count({ lakeId })).toBe(0);
  for (const id of Object.values(fileIds))
    expect(await app.services.library.get(app.user.id, id)).toBeDefined();
  expect(await app.services.store.collection(USERS).count({})).toBe(1);
});
