import {
  ARTIFACTS,
  type ArtifactRecord,
  makeArtifact,
  ORGANIZATIONS,
  PROJECTS,
  USERS,
} from '@questline/core';
import { describe, expect, it } from 'vitest';
import { type ChatWorld, createChatWorld } from '../support/chat.ts';
import { addOrganization } from '../support/people.ts';

const PATH = '/api/v1/artifacts';
const SCOPES = ['projects:read', 'projects:write', 'notebooks:read', 'notebooks:write'] as const;
const WISH = { type: 'code', title: 'Sort', content: 'one' } as const;

const createArtifactWorld = (options: Parameters<typeof createChatWorld>[0] = {}): Promise<ChatWorld> =>
  createChatWorld({ ...options, key: { scopes: SCOPES } });

const add = async (world: ChatWorld, wish: object = {}, credential = world.key) =>
  (await world.json('POST', PATH, { body: { ...WISH, ...wish }, credential })).body;

/** Somebody else, with a key of the same scopes. */
async function addStranger(world: ChatWorld, email = 'bob@example.com') {
  const { id } = await world.addUser(email);
  return { id, key: (await world.issue({ userId: id, scopes: SCOPES })).key };
}

const change = (world: ChatWorld, id: string, patch: Partial<ArtifactRecord>) =>
  world.services.store.collection(ARTIFACTS).update(id, patch);

/** The statuses of everything somebody may try with an artifact; deleting comes last. */
async function tries(world: ChatWorld, id: string, credential: string): Promise<number[]> {
  const asked = [
    ['GET', '', undefined],
    ['GET', '/versions', undefined],
    ['GET', '/versions/1', undefined],
    ['PATCH', '', { title: 'Changed' }],
    ['DELETE', '', undefined],
  ] as const;
  const statuses: number[] = [];
  for (const [method, suffix, body] of asked) {
    statuses.push((await world.json(method, `${PATH}/${id}${suffix}`, { credential, body })).status);
  }
  return statuses;
}

const NOTHING = [404, 404, 404, 404, 404];
const READ = [200, 200, 200, 404, 404];
const WRITE = [200, 200, 200, 200, 204];

describe('who sees an artifact', () => {
  it('is nobody but the owner of a private one', async () => {
    const world = await createArtifactWorld();
    const bob = await addStranger(world);
    const { id } = await add(world);
    expect(await tries(world, id, bob.key)).toEqual(NOTHING);
    const foreign = await world.json('GET', `${PATH}/${id}`, { credential: bob.key });
    const unknown = await world.json('GET', `${PATH}/${'0'.repeat(24)}`, { credential: bob.key });
    expect(foreign.body.error).toBe(unknown.body.error);
    expect(await tries(world, id, world.key)).toEqual(WRITE);
  });

  it('is who it is shared with, to read or to write', async () => {
    const world = await createArtifactWorld();
    const [bob, eve] = [await addStranger(world), await addStranger(world, 'eve@example.com')];
    const { id } = await add(world);
    await change(world, id, { readerIds: [bob.id], writerIds: [eve.id] });
    expect(await tries(world, id, bob.key)).toEqual(READ);
    expect(await tries(world, id, eve.key)).toEqual(WRITE);
    expect((await world.json('GET', PATH, { credential: bob.key })).body.data).toEqual([]);
  });

  it('is everybody, for a public one', async () => {
    const world = await createArtifactWorld();
    const bob = await addStranger(world);
    const { id } = await add(world);
    await change(world, id, { visibility: 'public' });
    expect(await tries(world, id, bob.key)).toEqual(READ);
  });

  it("is who belongs to the owner's organization, when it is visible there", async () => {
    const world = await createArtifactWorld();
    const bob = await addStranger(world);
    const { id } = await add(world);
    await change(world, id, { visibility: 'organization' });
    const { id: organizationId } = await addOrganization(world, { ownerId: bob.id });
    expect(await tries(world, id, bob.key)).toEqual(NOTHING);
    // It says so of itself, and is no member.
    await world.services.store.collection(USERS).update(world.user.id, { organizationId });
    expect(await tries(world, id, bob.key)).toEqual(NOTHING);
    const organizations = world.services.store.collection(ORGANIZATIONS);
    await organizations.update(organizationId, { readerIds: [world.user.id] });
    expect(await tries(world, id, bob.key)).toEqual(READ);
    await organizations.update(organizationId, { ownerId: world.user.id, readerIds: [] });
    expect(await tries(world, id, bob.key)).toEqual(NOTHING);
  });

  it('is who reads its project, when it is visible there, as long as there is one', async () => {
    const world = await createArtifactWorld();
    const bob = await addStranger(world);
    const project = (await world.json('POST', '/api/v1/projects', { body: { name: 'x', description: 'x' } }))
      .body;
    const { id } = await add(world, { project_id: project.id });
    await change(world, id, { visibility: 'project' });
    expect(await tries(world, id, bob.key)).toEqual(NOTHING);
    await world.services.store.collection(PROJECTS).update(project.id, { readerIds: [bob.id] });
    expect(await tries(world, id, bob.key)).toEqual(READ);
    await world.json('DELETE', `/api/v1/projects/${project.id}`);
    expect(await tries(world, id, bob.key)).toEqual(NOTHING);
    expect((await world.json('GET', `${PATH}/${id}`)).body.project_id).toBeNull();
  });
});

describe('versions', () => {
  it('keep what an artifact held, and go with it', async () => {
    const world = await createArtifactWorld();
    const { id } = await add(world);
    for (const content of ['two', 'two', 'three']) {
      await world.clock.advance(1000);
      await world.json('PATCH', `${PATH}/${id}`, { body: { content } });
    }
    const read = async (suffix: string) => (await world.json('GET', `${PATH}/${id}${suffix}`)).body;
    expect(await read('')).toMatchObject({ version: 3, content: 'three' });
    const contents = await Promise.all([1, 2, 3].map(async (n) => (await read(`/versions/${n}`)).content));
    expect(contents).toEqual(['one', 'two', 'three']);
    const first = await read('/versions?limit=2');
    const second = await read(`/versions?limit=2&cursor=${first.next_cursor}`);
    const numbers = [...first.data, ...second.data].map(({ version }) => version);
    expect([numbers, second.next_cursor]).toEqual([[1, 2, 3], null]);
    const other = await add(world);
    const misused = `${PATH}/${other.id}/versions?cursor=${first.next_cursor}`;
    expect((await world.json('GET', misused)).status).toBe(422);
    await world.json('DELETE', `${PATH}/${id}`);
    expect((await world.json('GET', `${PATH}/${id}/versions/1`)).status).toBe(404);
  });

  it('are numbered one by one, of however many changes at the same time', async () => {
    const world = await createArtifactWorld();
    const { id } = await add(world);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        world.json('PATCH', `${PATH}/${id}`, { body: { content: `change ${index}` } }),
      ),
    );
    const given = answers.map(({ body }) => body.version).sort((a, b) => a - b);
    expect(given).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));
  });
});

describe('an artifact of a session', () => {
  it('is listed by the session while both are there', async () => {
    const world = await createArtifactWorld();
    const session = (await world.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
    const listed = async () => (await world.json('GET', `/api/sessions/${session}`)).body.artifactIds;
    const [one, two] = [await add(world, { session_id: session }), await add(world, { session_id: session })];
    expect(await listed()).toEqual([one.id, two.id]);
    await world.json('DELETE', `${PATH}/${one.id}`);
    expect(await listed()).toEqual([two.id]);
    await world.json('DELETE', `/api/sessions/${session}`);
    const place = async () => (await world.json('GET', `${PATH}/${two.id}`)).body.session_id;
    while ((await place()) !== null) await world.clock.advance(1000);
    expect((await world.json('GET', `${PATH}/${two.id}`)).body.title).toBe('Sort');
  });

  it('may be put into another session by who reads it', async () => {
    const world = await createArtifactWorld();
    const bob = await addStranger(world);
    const { id } = await add(world);
    const put = () =>
      world.json('POST', '/api/v1/sessions', {
        body: { name: 'x', artifactIds: [id] },
        credential: bob.key,
      });
    expect((await put()).body.error).toBe('Artifact not found');
    await change(world, id, { readerIds: [bob.id] });
    expect((await put()).body.artifactIds).toEqual([id]);
  });

  it('is not made in a session or project of somebody else', async () => {
    const world = await createArtifactWorld();
    const bob = await addStranger(world);
    const session = (await world.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
    const project = (await world.json('POST', '/api/v1/projects', { body: { name: 'x', description: 'x' } }))
      .body.id;
    expect((await add(world, { session_id: session }, bob.key)).error).toBe('Session not found');
    expect((await add(world, { project_id: project }, bob.key)).error).toBe('Project not found');
    expect((await world.json('GET', PATH, { credential: bob.key })).body.data).toEqual([]);
  });

  it('can be made for a model, as if its user had', async () => {
    const world = await createArtifactWorld();
    const sessionId = (await world.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
    const { id } = await makeArtifact(world.services, world.user.id, { ...WISH, sessionId });
    const { body } = await world.json('GET', `${PATH}/${id}`);
    expect(body).toMatchObject({ title: 'Sort', content: 'one', session_id: sessionId });
    await world.services.switches.set('EnableArtifacts', false);
    await expect(makeArtifact(world.services, world.user.id, { ...WISH, sessionId })).rejects.toThrow(
      'Artifacts are switched off',
    );
  });
});
