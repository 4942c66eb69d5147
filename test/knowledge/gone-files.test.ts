import { createDemoProvider } from '@questline/core';
import { FILES, LAKE_FILES, LAKES } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatApp } from '../support/chat.ts';
import { addToLake, filledLake, ingest, makeLake, saveFile, withLakes } from '../support/lakes.ts';
import { createScriptedProvider } from '../support/model.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const PATH = '/api/v1/data-lakes';

const STORIES = {
  'hedgehog.txt': 'A hedgehog sleeps all winter in a heap of leaves.',
  'bread.txt': 'Bread rises when yeast eats sugar.',
};

/** An app whose index ignores deletions, as a slow or unavailable one does. */
function withoutIndexDeletion<W extends TestApp>(app: W): W {
  Object.assign(app.services.vectors, { remove: async () => undefined });
  return app;
}

async function deleteFile(app: TestApp, fileId: string): Promise<void> {
  const { key } = await app.issue({ scopes: ['files:write'] });
  const answer = await app.ask('DELETE', `/api/v1/files/${fileId}`, { credential: key });
  expect(answer.status).toBe(204);
}

async function found(app: TestApp, lakeId: string, body: object, credential?: string): Promise<string[]> {
  const answer = await app.ask('POST', `${PATH}/${lakeId}/search`, {
    body: { min_score: -1, ...body },
    credential: credential ?? (await app.token()),
  });
  expect(answer.status).toBe(200);
  const { results } = (await answer.json()) as { results: { file_name: string }[] };
  return results.map(({ file_name }) => file_name);
}

async function fileIn(app: TestApp, method: string, lakeId: string, fileId: string): Promise<number> {
  const credential = await app.token();
  return (await app.ask(method, `${PATH}/${lakeId}/files/${fileId}`, { credential })).status;
}

async function getLake(app: TestApp, lakeId: string): Promise<Record<string, unknown>> {
  const answer = await app.ask('GET', `${PATH}/${lakeId}`, { credential: await app.token() });
  return (await answer.json()) as Record<string, unknown>;
}

describe('deleted file in data lakes', () => {
  it('leaves every lake, its counts and the index', async () => {
    const app = await createTestApp(withLakes());
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const fileId = fileIds['bread.txt'] ?? '';
    const otherId = await makeLake(app, { name: 'Kitchen' });
    await addToLake(app, otherId, fileId);
    await ingest(app);
    await deleteFile(app, fileId);
    await app.settle();
    await app.clock.advance(2000);
    for (let rounds = 0; rounds < 20; rounds += 1) await app.settle();
    expect(await app.services.vectors.count({ lakeId })).toBe(1);
    expect(await app.services.vectors.count({ lakeId: otherId })).toBe(0);
    const size = STORIES['hedgehog.txt'].length;
    expect(await getLake(app, lakeId)).toMatchObject({ file_count: 1, total_size_bytes: size });
    expect(await getLake(app, otherId)).toMatchObject({ file_count: 0, total_size_bytes: 0 });
    expect(await app.services.store.collection(LAKE_FILES).count({ fileId })).toBe(0);
  });

  it('leaves them also when the work is interrupted', async () => {
    let failures = 0;
    let isAway = false;
    const app = await createTestApp(
      withLakes({
        store: (store) => ({
          ...store,
          transaction: (work, options) => {
            if (!isAway) return store.transaction(work, options);
            failures += 1;
            return Promise.reject(new Error('the store is away'));
          },
        }),
      }),
    );
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await app.clock.advance(1000);
        await app.settle();
      }
    };
    const { queue } = app.services;
    const enqueue = queue.enqueue.bind(queue);
    // From the moment when the lake is to be cleared.
    queue.enqueue = async (job, options) => {
      isAway ||= job.kind === 'data-lakes.forget-file';
      return enqueue(job, options);
    };
    await deleteFile(app, fileIds['bread.txt'] ?? '');
    await pass(5);
    expect(failures).toBeGreaterThan(0);
    expect(await getLake(app, lakeId)).toMatchObject({ file_count: 2 });
    queue.enqueue = enqueue;
    isAway = false;
    await pass(120);
    expect(await getLake(app, lakeId)).toMatchObject({ file_count: 1 });
    expect(await app.services.vectors.count({ lakeId })).toBe(1);
  });

  it('is subtracted once when it is removed in parallel', async () => {
    const app = await createTestApp(withLakes());
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const fileId = fileIds['bread.txt'] ?? '';
    await Promise.all([deleteFile(app, fileId), fileIn(app, 'DELETE', lakeId, fileId)]);
    await app.clock.advance(2000);
    for (let rounds = 0; rounds < 20; rounds += 1) await app.settle();
    expect(await getLake(app, lakeId)).toMatchObject({ file_count: 1 });
    expect(await app.services.vectors.count({ lakeId })).toBe(1);
  });

  it('does not stay in a lake it was added to in parallel', async () => {
    const app = await createTestApp(withLakes());
    const lakeId = await makeLake(app);
    const fileId = await saveFile(app, STORIES['bread.txt']);
    await addToLake(app, lakeId, fileId);
    // Another process has already cleaned up.
    await app.services.store.collection(FILES).take(fileId);
    await ingest(app);
    expect(await getLake(app, lakeId)).toMatchObject({ file_count: 0, total_size_bytes: 0 });
  });

  it('is never found or reported while the index still contains it', async () => {
    const app = withoutIndexDeletion(await createTestApp(withLakes()));
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const reader = await app.addUser('reader@example.com');
    await app.ledger.grant({
      account: `user:${reader.id}`,
      amount: 1_000_000,
      key: 'reader',
      reason: 'start',
    });
    await app.services.store.collection(LAKES).update(lakeId, { readerIds: [reader.id] });
    // No worker gets the job that cleans up.
    Object.assign(app.services.queue, { lease: async () => [] });
    const fileId = fileIds['bread.txt'] ?? '';
    await deleteFile(app, fileId);
    expect(await found(app, lakeId, { query: 'yeast' })).toEqual(['hedgehog.txt']);
    expect(await found(app, lakeId, { query: 'yeast' }, await app.token(reader))).toEqual(['hedgehog.txt']);
    expect(await fileIn(app, 'GET', lakeId, fileId)).toBe(404);
    expect(await fileIn(app, 'POST', lakeId, fileId)).toBe(404);
  });

  it('takes no place of other results in a search', async () => {
    const app = withoutIndexDeletion(await createTestApp(withLakes()));
    const long = Array.from({ length: 4000 }, (_, line) => `Bread of day ${line} rises.`).join('\n');
    const { lakeId, fileIds } = await filledLake(app, {
      'long.txt': long,
      'bread.txt': 'Bread is old.',
    });
    expect(await app.services.vectors.count({ lakeId })).toBeGreaterThan(50);
    await deleteFile(app, fileIds['long.txt'] ?? '');
    expect(await found(app, lakeId, { query: 'Bread of day rises', top_k: 3 })).toEqual(['bread.txt']);
  });

  it('is not quoted in a chat', async () => {
    const model = createScriptedProvider((call) => {
      call.say(...answerParts('Hello.'));
      call.end();
    });
    const app = withoutIndexDeletion(
      await createChatApp({
        model,
        models: [model, createDemoProvider()],
        settings: { admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true } },
      }),
    );
    const { lakeId, fileIds } = await filledLake(app, STORIES);
    const { body: session } = await app.json('POST', '/api/v1/sessions', {
      body: {
        name: 'S',
        dataLakeId: lakeId,
        forceKnowledgeRetrieval: true,
        knowledgeIds: [fileIds['bread.txt']],
      },
    });
    const reported = async () => {
      await app.chat({ message: 'What does yeast eat?', sessionId: session.id, wait: true });
      return JSON.stringify(app.calls.at(-1)?.request.messages);
    };
    expect(await reported()).toContain('Bread rises');
    await deleteFile(app, fileIds['bread.txt'] ?? '');
    expect(await reported()).not.toContain('Bread rises');
  });
});

describe('file of another user in a data lake', () => {
  async function borrowed() {
    const app = await createTestApp(withLakes());
    const friend = await app.addUser('friend@example.com');
    const fileId = await saveFile(app, STORIES['bread.txt'], { name: 'bread.txt', ownerId: friend.id });
    const files = app.services.store.collection(FILES);
    await files.update(fileId, { readerIds: [app.user.id] });
    const { lakeId } = await filledLake(app, { 'hedgehog.txt': STORIES['hedgehog.txt'] });
    await addToLake(app, lakeId, fileId);
    await ingest(app);
    return { app, lakeId, fileId, files };
  }

  it('is not found once the user who added it may not read it', async () => {
    const { app, lakeId, fileId, files } = await borrowed();
    expect(await found(app, lakeId, { query: 'yeast' })).toContain('bread.txt');
    await files.update(fileId, { readerIds: [] });
    expect(await found(app, lakeId, { query: 'yeast' })).toEqual(['hedgehog.txt']);
    expect(await fileIn(app, 'GET', lakeId, fileId)).toBe(404);
    expect(await fileIn(app, 'POST', lakeId, fileId)).toBe(404);
    // The owner of the lake can still remove the file to free its place.
    expect(await fileIn(app, 'DELETE', lakeId, fileId)).toBe(200);
    expect(await getLake(app, lakeId)).toMatchObject({ file_count: 1 });
  });

  it('is found again when a user who may read it adds it', async () => {
    const { app, lakeId, fileId, files } = await borrowed();
    const organizer = await app.addUser('organizer@example.com');
    await app.services.store.collection(LAKES).update(lakeId, { ownerId: organizer.id });
    await app.ledger.grant({
      account: `user:${organizer.id}`,
      amount: 1_000_000,
      key: 'organizer',
      reason: 'start',
    });
    await files.update(fileId, { readerIds: [organizer.id] });
    const credential = await app.token(organizer);
    expect(await found(app, lakeId, { query: 'yeast' }, credential)).not.toContain('bread.txt');
    const again = await app.ask('POST', `${PATH}/${lakeId}/files/${fileId}`, { credential });
    expect(await again.json()).toMatchObject({ file_count: 2 });
    await ingest(app);
    expect(await found(app, lakeId, { query: 'yeast' }, credential)).toContain('bread.txt');
  });
});

it('finds a file under its current name', async () => {
  const app = await createTestApp(withLakes());
  const { lakeId, fileIds } = await filledLake(app, { 'bread.txt': STORIES['bread.txt'] });
  const { key } = await app.issue({ scopes: ['files:write'] });
  const fileId = fileIds['bread.txt'] ?? '';
  await app.ask('PATCH', `/api/v1/files/${fileId}`, { body: { file_name: 'cake.txt' }, credential: key });
  expect(await found(app, lakeId, { query: 'yeast' })).toEqual(['cake.txt']);
  const shown = await app.ask('GET', `${PATH}/${lakeId}/files/${fileId}`, {
    credential: await app.token(),
  });
  expect(await shown.json()).toMatchObject({ file_name: 'cake.txt' });
});
