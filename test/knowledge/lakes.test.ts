import {
  createDemoProvider,
  LAKE_FILES,
  LAKES,
  type ModelProvider,
  ProviderError,
  type ProviderErrorKind,
  USERS,
} from '@questline/core';
import { describe, expect, it } from 'vitest';
import { addToLake, filledLake, ingest, makeLake, saveFile, withLakes } from '../support/lakes.ts';
import { addOrganization } from '../support/people.ts';
import { createWorld, type World } from '../support/world.ts';

const PATH = '/api/v1/data-lakes';

async function as(world: World, email: string): Promise<{ id: string; token: string }> {
  const user = await world.addUser(email);
  await world.ledger.grant({ account: `user:${user.id}`, amount: 1_000_000, key: email, reason: 'start' });
  return { id: user.id, token: await world.token(user) };
}

async function json(answer: Response): Promise<Record<string, unknown>> {
  return (await answer.json()) as Record<string, unknown>;
}

async function stateOf(world: World, lakeId: string, fileId: string): Promise<Record<string, unknown>> {
  return json(
    await world.ask('GET', `${PATH}/${lakeId}/files/${fileId}`, { credential: await world.token() }),
  );
}

async function search(
  world: World,
  lakeId: string,
  body: object,
  credential?: string,
): Promise<{ file_name: string; chunk_text: string; score: number }[]> {
  const answer = await world.ask('POST', `${PATH}/${lakeId}/search`, {
    body,
    credential: credential ?? (await world.token()),
  });
  expect(answer.status).toBe(200);
  return (await json(answer)).results as { file_name: string; chunk_text: string; score: number }[];
}

const STORIES = {
  'hedgehog.txt': 'A hedgehog sleeps all winter in a heap of leaves.',
  'sailor.md': '---\ntags: [sea]\n---\nThe sailor crossed the ocean in a small boat.',
  'bread.txt': 'Bread rises when yeast eats sugar.',
};

describe('who may do what with a data lake', () => {
  it('lets readers search and see, and nobody but the owner change anything', async () => {
    const world = await createWorld(withLakes());
    const { lakeId, fileIds } = await filledLake(world, STORIES);
    const reader = await as(world, 'reader@example.com');
    const stranger = await as(world, 'stranger@example.com');
    await world.services.store.collection(LAKES).update(lakeId, { readerIds: [reader.id] });
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
    const statusOf = async (
      credential: string,
      [method, path, body]: (typeof looks | typeof changes)[number],
    ) => {
      const answer = await world.ask(method, `${PATH}/${lakeId}${path}`, {
        credential,
        ...(body && { body }),
      });
      return answer.status;
    };
    for (const look of looks) {
      expect(await statusOf(reader.token, look)).toBe(200);
      expect(await statusOf(stranger.token, look)).toBe(404);
    }
    for (const change of changes) {
      expect(await statusOf(reader.token, change)).toBe(404);
      expect(await statusOf(stranger.token, change)).toBe(404);
    }
    const listed = async (credential: string) =>
      ((await json(await world.ask('GET', PATH, { credential }))).data as unknown[]).length;
    expect([await listed(reader.token), await listed(stranger.token)]).toEqual([1, 0]);

    const shared = await world.ask('PATCH', `${PATH}/${lakeId}`, {
      body: { is_public: true },
      credential: await world.token(),
    });
    expect(shared.status).toBe(200);
    for (const look of looks) expect(await statusOf(stranger.token, look)).toBe(200);
    for (const change of changes) expect(await statusOf(stranger.token, change)).toBe(404);
    expect(await listed(stranger.token)).toBe(1);
  });

  it('lets members of its organization read it, and administrators change it', async () => {
    const world = await createWorld(withLakes());
    const member = await as(world, 'member@example.com');
    const admin = await as(world, 'admin@example.com');
    const stranger = await as(world, 'stranger@example.com');
    const organization = await addOrganization(world, {
      name: 'Club',
      readerIds: [member.id],
      writerIds: [admin.id],
    });
    const lakeId = await makeLake(world, { name: 'Club papers', organization_id: organization.id });
    const tried = async (method: string, credential: string, body?: object) =>
      (await world.ask(method, `${PATH}/${lakeId}`, { credential, ...(body && { body }) })).status;
    expect(await tried('GET', member.token)).toBe(200);
    expect(await tried('PATCH', member.token, { name: 'x' })).toBe(404);
    expect(await tried('PATCH', admin.token, { name: 'x' })).toBe(200);
    expect(await tried('GET', stranger.token)).toBe(404);
    expect((await json(await world.ask('GET', PATH, { credential: member.token }))).data).toHaveLength(1);
    expect(await tried('DELETE', admin.token)).toBe(204);
  });

  it('keeps files out that whoever adds them cannot read', async () => {
    const world = await createWorld(withLakes());
    const other = await as(world, 'other@example.com');
    const fileId = await saveFile(world, 'secret', { ownerId: other.id });
    const lakeId = await makeLake(world);
    const answer = await world.ask('POST', `${PATH}/${lakeId}/files/${fileId}`, {
      credential: await world.token(),
    });
    expect(answer.status).toBe(404);
    expect(
      (await world.ask('GET', `${PATH}/${lakeId}/files/${fileId}`, { credential: await world.token() }))
        .status,
    ).toBe(404);
  });
});

describe('a search', () => {
  it('finds by meaning and by words, nothing below the least score, and only what has a tag', async () => {
    const world = await createWorld(withLakes());
    const { lakeId } = await filledLake(world, STORIES);
    const names = async (body: object) =>
      (await search(world, lakeId, body)).map(({ file_name }) => file_name);
    expect((await names({ query: 'where do hedgehogs sleep in winter' }))[0]).toBe('hedgehog.txt');
    expect(await names({ query: 'yeast', top_k: 1 })).toEqual(['bread.txt']);
    expect(await names({ query: 'boat', tags: ['sea'], min_score: -1 })).toEqual(['sailor.md']);
    expect(await names({ query: 'boat', tags: ['datalake:papers'], min_score: -1 })).toHaveLength(3);
    expect(await names({ query: 'boat', tags: [], min_score: -1 })).toHaveLength(3);
    expect(await names({ query: 'hedgehog', min_score: 0.99 })).toEqual([]);
    for (const { score } of await search(world, lakeId, { query: 'sugar', min_score: 0.1 })) {
      expect(score).toBeGreaterThanOrEqual(0.1);
    }
  });

  it.each(['!!!', ' ', '😀', '%'])('for %j, of which a model makes nothing, finds nothing', async (query) => {
    const world = await createWorld(withLakes());
    const { lakeId } = await filledLake(world, STORIES);
    expect(await search(world, lakeId, { query, min_score: -1 })).toEqual([]);
  });

  it('shows nothing of a file that is gone, whether taken out or deleted', async () => {
    const world = await createWorld(withLakes());
    const { lakeId, fileIds } = await filledLake(world, STORIES);
    const credential = await world.token();
    await world.ask('DELETE', `${PATH}/${lakeId}/files/${fileIds['bread.txt']}`, { credential });
    expect(await search(world, lakeId, { query: 'yeast', min_score: -1 })).toHaveLength(2);
    const { key } = await world.issue({ scopes: ['files:write'] });
    await world.ask('DELETE', `/api/v1/files/${fileIds['sailor.md']}`, { credential: key });
    expect(await search(world, lakeId, { query: 'sailor', min_score: -1 })).toMatchObject([
      { file_name: 'hedgehog.txt' },
    ]);
    await world.clock.advance(2000);
    await world.settle();
    expect(await world.services.vectors.count({ lakeId })).toBe(1);
  });

  it('is charged to whoever asks, once', async () => {
    const world = await createWorld(withLakes());
    const { lakeId } = await filledLake(world, STORIES);
    await search(world, lakeId, { query: 'yeast' });
    const charges = await world.ledger.charges({ account: world.account }, 10);
    expect(charges.map(({ operation, status }) => [operation, status])).toEqual([
      ['searchDataLake', 'settled'],
      ...new Array(3).fill(['addDataLakeFile', 'settled']),
    ]);
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });
});

/** The offline model, failing while it is told to. */
function moody(): {
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

describe('reading a file in', () => {
  it.each([
    [
      'of a type that is not read',
      'image/svg+xml',
      'x',
      'Files of the type image/svg+xml have no text that is read.',
    ],
    ['without any word', 'text/plain', ' ... ', 'There is no text in the file.'],
  ])('ends with a reason for one %s', async (_, mimeType, text, error) => {
    const world = await createWorld(withLakes());
    const lakeId = await makeLake(world);
    const fileId = await saveFile(world, text, { mimeType });
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'failed', error });
  });

  it('waits for credit, and goes on when it is told to', async () => {
    const world = await createWorld(withLakes({ credits: 0 }));
    const lakeId = await makeLake(world);
    const fileId = await saveFile(world, 'Some words that cost something.');
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({
      ingestion_status: 'paused',
      chunk_count: 1,
      vectorized_chunk_count: 0,
      error: expect.stringContaining('Insufficient credits') as unknown,
    });
    await world.ledger.grant({ account: world.account, amount: 1_000_000, key: 'more', reason: 'more' });
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready', error: null });
    const { held, posted } = await world.ledger.balance(world.account);
    expect(held).toBe(0);
    expect(posted).toBeLessThan(1_000_000);
  });

  it.each([
    ['rejected_key', 'paused', 'The embedding model cannot be reached with the keys there are.'],
    ['invalid_request', 'failed', 'The embedding model refused the text of this file.'],
  ] as const)('stops when the provider says %s', async (kind, status, error) => {
    const { provider, fail } = moody();
    const world = await createWorld(withLakes({ models: [provider] }));
    const lakeId = await makeLake(world);
    const fileId = await saveFile(world, 'Some words.');
    fail(kind);
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: status, error });
    expect(await world.ledger.balance(world.account)).toMatchObject({ held: 0, posted: 1_000_000_000 });
    fail(undefined);
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready', error: null });
  });

  it('ends for nothing when the model makes nothing of its text', async () => {
    const { provider } = moody();
    const mute: ModelProvider = {
      ...provider,
      embed: async ({ inputs }) => ({ embeddings: inputs.map(() => [0, 0]), tokens: 1 }),
    };
    const world = await createWorld(withLakes({ models: [mute] }));
    const lakeId = await makeLake(world);
    const fileId = await saveFile(world, 'Some words.');
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({
      ingestion_status: 'failed',
      error: 'The embedding model refused the text of this file.',
    });
    expect(await world.ledger.balance(world.account)).toMatchObject({ held: 0, posted: 1_000_000_000 });
  });

  it('asks a provider again that was down for a moment, and pays once', async () => {
    const { provider, fail, calls } = moody();
    const world = await createWorld(withLakes({ models: [provider] }));
    const lakeId = await makeLake(world);
    const fileId = await saveFile(world, 'Some words.');
    fail('overloaded');
    await addToLake(world, lakeId, fileId);
    await world.api.start();
    while (calls() === 0) await world.settle();
    await world.settle();
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'indexing' });
    fail(undefined);
    await world.clock.advance(2000);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready' });
    const settled = await world.ledger.charges({ account: world.account }, 10);
    expect(settled.filter(({ status }) => status === 'settled')).toHaveLength(1);
  });

  it('pauses with its lake, and goes on with it', async () => {
    const world = await createWorld(withLakes());
    const lakeId = await makeLake(world);
    const credential = await world.token();
    const change = (status: string) =>
      world.ask('PATCH', `${PATH}/${lakeId}`, { body: { status }, credential });
    await change('archived');
    const fileId = await saveFile(world, 'Some words.');
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'paused' });
    await change('active');
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready' });
  });

  it('leaves nothing behind when the file is taken out in the middle', async () => {
    const { provider } = moody();
    let remove = async (): Promise<unknown> => undefined;
    const removing: ModelProvider = {
      ...provider,
      embed: async (request, options) => {
        await remove();
        return (await provider.embed?.(request, options)) ?? { embeddings: [], tokens: 0 };
      },
    };
    const world = await createWorld(withLakes({ models: [removing] }));
    const lakeId = await makeLake(world);
    const fileId = await saveFile(world, 'Some words.');
    const credential = await world.token();
    await addToLake(world, lakeId, fileId);
    remove = () => world.ask('DELETE', `${PATH}/${lakeId}/files/${fileId}`, { credential });
    await ingest(world);
    for (let rounds = 0; rounds < 100; rounds += 1) await world.settle();
    expect(await world.services.vectors.count({ lakeId })).toBe(0);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'not_ingested' });
    expect((await world.ledger.balance(world.account)).held).toBe(0);
  });

  it('is taken up again when the process ended before the job was handed over', async () => {
    const world = await createWorld(withLakes());
    const lakeId = await makeLake(world);
    const fileId = await saveFile(world, 'Some words.');
    const { queue } = world.services;
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = async () => ({ id: 'lost', added: true });
    await addToLake(world, lakeId, fileId);
    queue.enqueue = enqueue;
    await world.api.start();
    await world.clock.advance(300_000);
    await ingest(world);
    expect(await stateOf(world, lakeId, fileId)).toMatchObject({ ingestion_status: 'ready' });
  });

  it('cuts long files, shows how far it is, and keeps every piece once', async () => {
    const world = await createWorld(withLakes());
    const lakeId = await makeLake(world);
    const text = Array.from({ length: 3000 }, (_, line) => `Line ${line} is about subject${line}.`).join(
      '\n',
    );
    const fileId = await saveFile(world, text);
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    const state = await stateOf(world, lakeId, fileId);
    expect(state).toMatchObject({ ingestion_status: 'ready' });
    expect(state.chunk_count).toBeGreaterThan(64);
    expect(state.vectorized_chunk_count).toBe(state.chunk_count);
    expect(await world.services.vectors.count({ lakeId })).toBe(state.chunk_count);
    const [best] = await search(world, lakeId, { query: 'subject2345' });
    expect(best?.chunk_text).toContain('subject2345');
  });
});

it('a deleted lake is gone with all the index holds of it, and its files stay', async () => {
  const world = await createWorld(withLakes());
  const { lakeId, fileIds } = await filledLake(world, STORIES);
  const credential = await world.token();
  expect((await world.ask('DELETE', `${PATH}/${lakeId}`, { credential })).status).toBe(204);
  for (let rounds = 0; rounds < 100; rounds += 1) await world.settle();
  expect((await world.ask('GET', `${PATH}/${lakeId}`, { credential })).status).toBe(404);
  expect(await world.services.vectors.count({ lakeId })).toBe(0);
  expect(await world.services.store.collection(LAKE_FILES).count({ lakeId })).toBe(0);
  for (const id of Object.values(fileIds))
    expect(await world.services.library.get(world.user.id, id)).toBeDefined();
  expect(await world.services.store.collection(USERS).count({})).toBe(1);
});
