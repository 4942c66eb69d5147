import { createDemoProvider, FILES, LAKE_FILES, LAKES } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { answerParts, createChatWorld } from '../support/chat.ts';
import { addToLake, filledLake, ingest, makeLake, saveFile, withLakes } from '../support/lakes.ts';
import { createScriptedProvider } from '../support/model.ts';
import { createWorld, type World } from '../support/world.ts';

const PATH = '/api/v1/data-lakes';

const STORIES = {
  'hedgehog.txt': 'A hedgehog sleeps all winter in a heap of leaves.',
  'bread.txt': 'Bread rises when yeast eats sugar.',
};

/** The same as people have it whose index is slow to forget, or away: what it held it still holds. */
function thatForgetsNothing<W extends World>(world: W): W {
  Object.assign(world.services.vectors, { remove: async () => undefined });
  return world;
}

async function deleteFile(world: World, fileId: string): Promise<void> {
  const { key } = await world.issue({ scopes: ['files:write'] });
  const answer = await world.ask('DELETE', `/api/v1/files/${fileId}`, { credential: key });
  expect(answer.status).toBe(204);
}

async function found(world: World, lakeId: string, body: object, credential?: string): Promise<string[]> {
  const answer = await world.ask('POST', `${PATH}/${lakeId}/search`, {
    body: { min_score: -1, ...body },
    credential: credential ?? (await world.token()),
  });
  expect(answer.status).toBe(200);
  const { results } = (await answer.json()) as { results: { file_name: string }[] };
  return results.map(({ file_name }) => file_name);
}

async function fileIn(world: World, method: string, lakeId: string, fileId: string): Promise<number> {
  const credential = await world.token();
  return (await world.ask(method, `${PATH}/${lakeId}/files/${fileId}`, { credential })).status;
}

async function lakeOf(world: World, lakeId: string): Promise<Record<string, unknown>> {
  const answer = await world.ask('GET', `${PATH}/${lakeId}`, { credential: await world.token() });
  return (await answer.json()) as Record<string, unknown>;
}

describe('a file that is deleted', () => {
  it('leaves every lake it was in, its counts and the index', async () => {
    const world = await createWorld(withLakes());
    const { lakeId, fileIds } = await filledLake(world, STORIES);
    const fileId = fileIds['bread.txt'] ?? '';
    const otherId = await makeLake(world, { name: 'Kitchen' });
    await addToLake(world, otherId, fileId);
    await ingest(world);
    await deleteFile(world, fileId);
    await world.settle();
    await world.clock.advance(2000);
    for (let rounds = 0; rounds < 20; rounds += 1) await world.settle();
    expect(await world.services.vectors.count({ lakeId })).toBe(1);
    expect(await world.services.vectors.count({ lakeId: otherId })).toBe(0);
    const size = STORIES['hedgehog.txt'].length;
    expect(await lakeOf(world, lakeId)).toMatchObject({ file_count: 1, total_size_bytes: size });
    expect(await lakeOf(world, otherId)).toMatchObject({ file_count: 0, total_size_bytes: 0 });
    expect(await world.services.store.collection(LAKE_FILES).count({ fileId })).toBe(0);
  });

  it('leaves them also when the work breaks off in between', async () => {
    let failures = 0;
    let isAway = false;
    const world = await createWorld(
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
    const { lakeId, fileIds } = await filledLake(world, STORIES);
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await world.clock.advance(1000);
        await world.settle();
      }
    };
    const { queue } = world.services;
    const enqueue = queue.enqueue.bind(queue);
    // From the moment on at which the lake is to be cleared.
    queue.enqueue = async (job, options) => {
      isAway ||= job.kind === 'data-lakes.forget-file';
      return enqueue(job, options);
    };
    await deleteFile(world, fileIds['bread.txt'] ?? '');
    await pass(5);
    expect(failures).toBeGreaterThan(0);
    expect(await lakeOf(world, lakeId)).toMatchObject({ file_count: 2 });
    queue.enqueue = enqueue;
    isAway = false;
    await pass(120);
    expect(await lakeOf(world, lakeId)).toMatchObject({ file_count: 1 });
    expect(await world.services.vectors.count({ lakeId })).toBe(1);
  });

  it('is counted off once, when it is taken out at the same time', async () => {
    const world = await createWorld(withLakes());
    const { lakeId, fileIds } = await filledLake(world, STORIES);
    const fileId = fileIds['bread.txt'] ?? '';
    await Promise.all([deleteFile(world, fileId), fileIn(world, 'DELETE', lakeId, fileId)]);
    await world.clock.advance(2000);
    for (let rounds = 0; rounds < 20; rounds += 1) await world.settle();
    expect(await lakeOf(world, lakeId)).toMatchObject({ file_count: 1 });
    expect(await world.services.vectors.count({ lakeId })).toBe(1);
  });

  it('does not stay in a lake that it was added to in that very moment', async () => {
    const world = await createWorld(withLakes());
    const lakeId = await makeLake(world);
    const fileId = await saveFile(world, STORIES['bread.txt']);
    await addToLake(world, lakeId, fileId);
    // Whoever cleared up after it has been here before.
    await world.services.store.collection(FILES).take(fileId);
    await ingest(world);
    expect(await lakeOf(world, lakeId)).toMatchObject({ file_count: 0, total_size_bytes: 0 });
  });

  it('is not found by anybody while the index still holds it, nor told of', async () => {
    const world = thatForgetsNothing(await createWorld(withLakes()));
    const { lakeId, fileIds } = await filledLake(world, STORIES);
    const reader = await world.addUser('reader@example.com');
    await world.ledger.grant({
      account: `user:${reader.id}`,
      amount: 1_000_000,
      key: 'reader',
      reason: 'start',
    });
    await world.services.store.collection(LAKES).update(lakeId, { readerIds: [reader.id] });
    // Nobody does the job: this process was about to end.
    await world.api.drain(0);
    const fileId = fileIds['bread.txt'] ?? '';
    await deleteFile(world, fileId);
    expect(await found(world, lakeId, { query: 'yeast' })).toEqual(['hedgehog.txt']);
    expect(await found(world, lakeId, { query: 'yeast' }, await world.token(reader))).toEqual([
      'hedgehog.txt',
    ]);
    expect(await fileIn(world, 'GET', lakeId, fileId)).toBe(404);
    expect(await fileIn(world, 'POST', lakeId, fileId)).toBe(404);
  });

  it('takes no place in a search from those that are there', async () => {
    const world = thatForgetsNothing(await createWorld(withLakes()));
    const long = Array.from({ length: 4000 }, (_, line) => `Bread of day ${line} rises.`).join('\n');
    const { lakeId, fileIds } = await filledLake(world, {
      'long.txt': long,
      'bread.txt': 'Bread is old.',
    });
    expect(await world.services.vectors.count({ lakeId })).toBeGreaterThan(50);
    await deleteFile(world, fileIds['long.txt'] ?? '');
    expect(await found(world, lakeId, { query: 'Bread of day rises', top_k: 3 })).toEqual(['bread.txt']);
  });

  it('is quoted in no chat', async () => {
    const model = createScriptedProvider((call) => {
      call.say(...answerParts('Hello.'));
      call.end();
    });
    const world = thatForgetsNothing(
      await createChatWorld({
        model,
        models: [model, createDemoProvider()],
        settings: { admin: { DefaultAPIModel: 'scripted', EnableDataLakes: true } },
      }),
    );
    const { lakeId, fileIds } = await filledLake(world, STORIES);
    const { body: session } = await world.json('POST', '/api/v1/sessions', {
      body: {
        name: 'S',
        dataLakeId: lakeId,
        forceKnowledgeRetrieval: true,
        knowledgeIds: [fileIds['bread.txt']],
      },
    });
    const told = async () => {
      await world.chat({ message: 'What does yeast eat?', sessionId: session.id, wait: true });
      return JSON.stringify(world.calls.at(-1)?.request.messages);
    };
    expect(await told()).toContain('Bread rises');
    await deleteFile(world, fileIds['bread.txt'] ?? '');
    expect(await told()).not.toContain('Bread rises');
  });
});

describe('a file of somebody else', () => {
  async function borrowed() {
    const world = await createWorld(withLakes());
    const friend = await world.addUser('friend@example.com');
    const fileId = await saveFile(world, STORIES['bread.txt'], { name: 'bread.txt', ownerId: friend.id });
    const files = world.services.store.collection(FILES);
    await files.update(fileId, { readerIds: [world.user.id] });
    const { lakeId } = await filledLake(world, { 'hedgehog.txt': STORIES['hedgehog.txt'] });
    await addToLake(world, lakeId, fileId);
    await ingest(world);
    return { world, lakeId, fileId, files };
  }

  it('is not found any more when whoever added it may not read it any more', async () => {
    const { world, lakeId, fileId, files } = await borrowed();
    expect(await found(world, lakeId, { query: 'yeast' })).toContain('bread.txt');
    await files.update(fileId, { readerIds: [] });
    expect(await found(world, lakeId, { query: 'yeast' })).toEqual(['hedgehog.txt']);
    expect(await fileIn(world, 'GET', lakeId, fileId)).toBe(404);
    expect(await fileIn(world, 'POST', lakeId, fileId)).toBe(404);
    // What the owner of the lake does not want to keep a place for can be taken out all the same.
    expect(await fileIn(world, 'DELETE', lakeId, fileId)).toBe(200);
    expect(await lakeOf(world, lakeId)).toMatchObject({ file_count: 1 });
  });

  it('is there again for whoever may read it and adds it anew', async () => {
    const { world, lakeId, fileId, files } = await borrowed();
    const organizer = await world.addUser('organizer@example.com');
    await world.services.store.collection(LAKES).update(lakeId, { ownerId: organizer.id });
    await world.ledger.grant({
      account: `user:${organizer.id}`,
      amount: 1_000_000,
      key: 'organizer',
      reason: 'start',
    });
    await files.update(fileId, { readerIds: [organizer.id] });
    const credential = await world.token(organizer);
    expect(await found(world, lakeId, { query: 'yeast' }, credential)).not.toContain('bread.txt');
    const again = await world.ask('POST', `${PATH}/${lakeId}/files/${fileId}`, { credential });
    expect(await again.json()).toMatchObject({ file_count: 2 });
    await ingest(world);
    expect(await found(world, lakeId, { query: 'yeast' }, credential)).toContain('bread.txt');
  });
});

it('a file is found under the name it has now', async () => {
  const world = await createWorld(withLakes());
  const { lakeId, fileIds } = await filledLake(world, { 'bread.txt': STORIES['bread.txt'] });
  const { key } = await world.issue({ scopes: ['files:write'] });
  const fileId = fileIds['bread.txt'] ?? '';
  await world.ask('PATCH', `/api/v1/files/${fileId}`, { body: { file_name: 'cake.txt' }, credential: key });
  expect(await found(world, lakeId, { query: 'yeast' })).toEqual(['cake.txt']);
  const shown = await world.ask('GET', `${PATH}/${lakeId}/files/${fileId}`, {
    credential: await world.token(),
  });
  expect(await shown.json()).toMatchObject({ file_name: 'cake.txt' });
});
