import { SESSIONS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatWorld, createChatWorld } from '../support/chat.ts';
import { makeFile } from '../support/possessions.ts';
import type { World } from '../support/world.ts';

const PATH = '/api/v1/projects';
const SCOPES = [
  'projects:read',
  'projects:write',
  'notebooks:read',
  'notebooks:write',
  'files:write',
] as const;

const createProjectWorld = (options: Parameters<typeof createChatWorld>[0] = {}): Promise<ChatWorld> =>
  createChatWorld({ ...options, key: { scopes: SCOPES } });

async function addSession(world: ChatWorld, credential = world.key): Promise<string> {
  return (await world.json('POST', '/api/v1/sessions', { body: { name: 'Work' }, credential })).body.id;
}

async function addProject(world: ChatWorld, wish: object = {}, credential = world.key) {
  const body = { name: 'Engine', description: 'All about it.', ...wish };
  return world.json('POST', PATH, { body, credential });
}

/** Somebody else, with a key of the same scopes. */
async function stranger(world: World): Promise<{ id: string; key: string }> {
  const { id } = await world.addUser('bob@example.com');
  return { id, key: (await world.issue({ userId: id, scopes: SCOPES })).key };
}

const projectOf = async (world: ChatWorld, sessionId: string, credential = world.key) =>
  (await world.json('GET', `/api/sessions/${sessionId}`, { credential })).body.projectId;

describe('a project', () => {
  it("is shown by the owner's sessions in it, by the last one put into two, and by none once it is gone", async () => {
    const world = await createProjectWorld();
    const [first, second] = [await addSession(world), await addSession(world)];
    const one = (await addProject(world, { session_ids: [first, second] })).body;
    const other = (await addProject(world, { name: 'Other', session_ids: [second] })).body;
    expect([await projectOf(world, first), await projectOf(world, second)]).toEqual([one.id, other.id]);
    expect((await world.json('DELETE', `${PATH}/${one.id}`)).status).toBe(204);
    expect([await projectOf(world, first), await projectOf(world, second)]).toEqual([null, other.id]);
    expect((await world.json('GET', `${PATH}/${one.id}`)).status).toBe(404);
  });

  it('takes sessions that are shared with its owner, and leaves them alone', async () => {
    const world = await createProjectWorld();
    const { id: bob, key } = await stranger(world);
    const theirs = await addSession(world, key);
    const refused = await addProject(world, { session_ids: [theirs] });
    const unknown = await addProject(world, { session_ids: ['0'.repeat(24)] });
    expect([refused.status, refused.body.error]).toEqual([400, unknown.body.error]);
    await world.services.store.collection(SESSIONS).update(theirs, { readerIds: [world.user.id] });
    const { status, body } = await addProject(world, { session_ids: [theirs] });
    expect([status, body.session_ids]).toEqual([201, [theirs]]);
    expect(await projectOf(world, theirs, key)).toBeNull();
    expect(bob).not.toBe(world.user.id);
  });

  it('lists a session no more that is deleted', async () => {
    const world = await createProjectWorld();
    const [first, second] = [await addSession(world), await addSession(world)];
    const { id } = (await addProject(world, { session_ids: [first, second] })).body;
    await world.json('DELETE', `/api/sessions/${first}`);
    const listed = async () => (await world.json('GET', `${PATH}/${id}`)).body.session_ids;
    while ((await listed()).length > 1) await world.clock.advance(1000);
    expect(await listed()).toEqual([second]);
  });

  it('lists a file no more that is deleted, and takes none of somebody else', async () => {
    const world = await createProjectWorld();
    const bob = await world.addUser('eve@example.com');
    const file = await makeFile(world, world.user);
    const theirs = await makeFile(world, bob);
    expect((await addProject(world, { file_ids: [file, theirs] })).body.error).toBe(
      'file_ids.1: file not found',
    );
    const { id } = (await addProject(world, { file_ids: [file] })).body;
    const listed = async () => (await world.json('GET', `${PATH}/${id}`)).body.file_ids;
    expect(await listed()).toEqual([file]);
    await world.json('DELETE', `/api/v1/files/${file}`);
    while ((await listed()).length > 0) await world.clock.advance(1000);
  });

  it("is nobody's but its owner's: others find, change and delete nothing, also when it is shared", async () => {
    const world = await createProjectWorld();
    const { key } = await stranger(world);
    const { id } = (await addProject(world)).body;
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'Mine' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await world.json(method, `${PATH}/${id}`, { credential: key, body });
      const unknown = await world.json(method, `${PATH}/${'0'.repeat(24)}`, { credential: key, body });
      expect([foreign.status, foreign.body.error]).toEqual([404, unknown.body.error]);
    }
    expect((await world.json('GET', PATH, { credential: key })).body.data).toEqual([]);
    expect((await world.json('GET', `${PATH}/${id}`)).body.name).toBe('Engine');
  });

  it('has a name of its own among those of its owner, and leaves it free when it is gone', async () => {
    const world = await createProjectWorld();
    const { key } = await stranger(world);
    const { id } = (await addProject(world)).body;
    expect((await addProject(world)).status).toBe(422);
    expect((await addProject(world, {}, key)).status).toBe(201);
    await world.json('DELETE', `${PATH}/${id}`);
    expect((await addProject(world)).status).toBe(201);
    const parallel = await Promise.all(
      Array.from({ length: 10 }, () => addProject(world, { name: 'Racer' })),
    );
    expect(parallel.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(422)]);
  });

  it('comes page by page, oldest first, each once', async () => {
    const world = await createProjectWorld();
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) {
      await addProject(world, { name });
      await world.clock.advance(1);
    }
    const seen: string[] = [];
    let query = '?limit=2';
    for (let pages = 0; pages < 3; pages += 1) {
      const { body } = await world.json('GET', `${PATH}${query}`);
      seen.push(...body.data.map(({ name }: { name: string }) => name));
      query = `?limit=2&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(names);
    const { key } = await stranger(world);
    const first = await world.json('GET', `${PATH}?limit=2`);
    const path = `${PATH}?cursor=${first.body.next_cursor}`;
    expect((await world.json('GET', path, { credential: key })).status).toBe(422);
  });
});
