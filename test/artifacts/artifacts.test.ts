import { USERS } from '@questline/core';
import {
  ARTIFACTS,
  type ArtifactRecord,
  makeArtifact,
  ORGANIZATIONS,
  PROJECTS,
  SESSIONS,
} from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { addOrganization } from '../support/people.ts';

const PATH = '/api/v1/artifacts';
const SCOPES = ['projects:read', 'projects:write', 'notebooks:read', 'notebooks:write'] as const;
const WISH = { type: 'code', title: 'Sort', content: 'one' } as const;

const createArtifactApp = (options: Parameters<typeof createChatApp>[0] = {}): Promise<ChatApp> =>
  createChatApp({ ...options, key: { scopes: SCOPES } });

const add = async (app: ChatApp, input: object = {}, credential = app.key) =>
  (await app.json('POST', PATH, { body: { ...WISH, ...input }, credential })).body;

/** Another user with an API key of the same scopes. */
async function addStranger(app: ChatApp, email = 'bob@example.com') {
  const { id } = await app.addUser(email);
  return { id, key: (await app.issue({ userId: id, scopes: SCOPES })).key };
}

const change = (app: ChatApp, id: string, patch: Partial<ArtifactRecord>) =>
  app.services.store.collection(ARTIFACTS).update(id, patch);

/** The statuses of each operation on an artifact; deletion comes last. */
async function tryAllOperations(app: ChatApp, id: string, credential: string): Promise<number[]> {
  const asked = [
    ['GET', '', undefined],
    ['GET', '/versions', undefined],
    ['GET', '/versions/1', undefined],
    ['PATCH', '', { title: 'Changed' }],
    ['DELETE', '', undefined],
  ] as const;
  const statuses: number[] = [];
  for (const [method, suffix, body] of asked) {
    statuses.push((await app.json(method, `${PATH}/${id}${suffix}`, { credential, body })).status);
  }
  return statuses;
}

const NOTHING = [404, 404, 404, 404, 404];
const READ = [200, 200, 200, 404, 404];
const WRITE = [200, 200, 200, 200, 204];

describe('visibility of an artifact', () => {
  it('is limited to the owner of a private one', async () => {
    const app = await createArtifactApp();
    const bob = await addStranger(app);
    const { id } = await add(app);
    expect(await tryAllOperations(app, id, bob.key)).toEqual(NOTHING);
    const foreign = await app.json('GET', `${PATH}/${id}`, { credential: bob.key });
    const unknown = await app.json('GET', `${PATH}/${'0'.repeat(24)}`, { credential: bob.key });
    expect(foreign.body.error).toBe(unknown.body.error);
    expect(await tryAllOperations(app, id, app.key)).toEqual(WRITE);
  });

  it('includes users it is shared with, to read or to write', async () => {
    const app = await createArtifactApp();
    const [bob, eve] = [await addStranger(app), await addStranger(app, 'eve@example.com')];
    const { id } = await add(app);
    await change(app, id, { readerIds: [bob.id], writerIds: [eve.id] });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(READ);
    expect(await tryAllOperations(app, id, eve.key)).toEqual(WRITE);
    expect((await app.json('GET', PATH, { credential: bob.key })).body.data).toEqual([]);
  });

  it('includes all users for a public one', async () => {
    const app = await createArtifactApp();
    const bob = await addStranger(app);
    const { id } = await add(app);
    await change(app, id, { visibility: 'public' });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(READ);
  });

  it('includes the organization of the owner when it is visible there', async () => {
    const app = await createArtifactApp();
    const bob = await addStranger(app);
    const { id } = await add(app);
    await change(app, id, { visibility: 'organization' });
    const { id: organizationId } = await addOrganization(app, { ownerId: bob.id });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(NOTHING);
    // Setting the organization does not make the user a member.
    await app.services.store.collection(USERS).update(app.user.id, { organizationId });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(NOTHING);
    const organizations = app.services.store.collection(ORGANIZATIONS);
    await organizations.update(organizationId, { readerIds: [app.user.id] });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(READ);
    await organizations.update(organizationId, { readerIds: [], writerIds: [app.user.id] });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(READ);
    await organizations.update(organizationId, { ownerId: app.user.id, writerIds: [] });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(NOTHING);
  });

  it('includes readers of its project when it is visible there, while the project exists', async () => {
    const app = await createArtifactApp();
    const bob = await addStranger(app);
    const project = (await app.json('POST', '/api/v1/projects', { body: { name: 'x', description: 'x' } }))
      .body;
    const { id } = await add(app, { project_id: project.id });
    await change(app, id, { visibility: 'project' });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(NOTHING);
    await app.services.store.collection(PROJECTS).update(project.id, { readerIds: [bob.id] });
    expect(await tryAllOperations(app, id, bob.key)).toEqual(READ);
    await app.json('DELETE', `/api/v1/projects/${project.id}`);
    expect(await tryAllOperations(app, id, bob.key)).toEqual(NOTHING);
    expect((await app.json('GET', `${PATH}/${id}`)).body.project_id).toBeNull();
  });
});

describe('artifact versions', () => {
  it('keep earlier content and are deleted with the artifact', async () => {
    const app = await createArtifactApp();
    const { id } = await add(app);
    for (const content of ['two', 'two', 'three']) {
      await app.clock.advance(1000);
      await app.json('PATCH', `${PATH}/${id}`, { body: { content } });
    }
    const read = async <const Suffix extends string>(suffix: Suffix) =>
      (await app.json('GET', `${PATH}/${id}${suffix}`)).body;
    expect(await read('')).toMatchObject({ version: 3, content: 'three' });
    const contents = await Promise.all([1, 2, 3].map(async (n) => (await read(`/versions/${n}`)).content));
    expect(contents).toEqual(['one', 'two', 'three']);
    const first = await read('/versions?limit=2');
    const second = await read(`/versions?limit=2&cursor=${first.next_cursor}`);
    const numbers = [...first.data, ...second.data].map(({ version }) => version);
    expect([numbers, second.next_cursor]).toEqual([[1, 2, 3], null]);
    const other = await add(app);
    const misused = `${PATH}/${other.id}/versions?cursor=${first.next_cursor}`;
    expect((await app.json('GET', misused)).status).toBe(422);
    await app.json('DELETE', `${PATH}/${id}`);
    expect((await app.json('GET', `${PATH}/${id}/versions/1`)).status).toBe(404);
  });

  it('have consecutive numbers under parallel changes', async () => {
    const app = await createArtifactApp();
    const { id } = await add(app);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        app.json('PATCH', `${PATH}/${id}`, { body: { content: `change ${index}` } }),
      ),
    );
    const given = answers.map(({ body }) => body.version).sort((a, b) => a - b);
    expect(given).toEqual(Array.from({ length: 20 }, (_, index) => index + 2));
  });
});

describe('artifact of a session', () => {
  it('is listed by the session while both exist', async () => {
    const app = await createArtifactApp();
    const session = (await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
    const listed = async () => (await app.json('GET', `/api/sessions/${session}`)).body.artifactIds;
    const [one, two] = [await add(app, { session_id: session }), await add(app, { session_id: session })];
    expect(await listed()).toEqual([one.id, two.id]);
    await app.json('DELETE', `${PATH}/${one.id}`);
    expect(await listed()).toEqual([two.id]);
    await app.json('DELETE', `/api/sessions/${session}`);
    const place = async () => (await app.json('GET', `${PATH}/${two.id}`)).body.session_id;
    while ((await place()) !== null) await app.clock.advance(1000);
    expect((await app.json('GET', `${PATH}/${two.id}`)).body.title).toBe('Sort');
  });

  it('is refused in a session with the maximum of artifacts', async () => {
    const app = await createArtifactApp();
    const session = (await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
    const artifactIds = Array.from({ length: 499 }, (_, at) => `00000000000000000000${at + 1000}`);
    await app.services.store.collection(SESSIONS).update(session, { artifactIds });
    const last = await add(app, { session_id: session });
    const answer = await app.json('POST', PATH, { body: { ...WISH, session_id: session } });
    expect(answer.status).toBe(422);
    expect(answer.body.error).toBe('session_id: the session has the maximum of 500 artifacts');
    expect(await app.services.store.collection(ARTIFACTS).find({})).toMatchObject([{ id: last.id }]);
    expect((await app.services.store.collection(SESSIONS).get(session))?.artifactIds).toHaveLength(500);
    await app.api.close();
  });

  it('may be moved to another session by its reader', async () => {
    const app = await createArtifactApp();
    const bob = await addStranger(app);
    const { id } = await add(app);
    const put = () =>
      app.json('POST', '/api/v1/sessions', {
        body: { name: 'x', artifactIds: [id] },
        credential: bob.key,
      });
    expect((await put()).body.error).toBe(`Artifact ${id} not found`);
    await change(app, id, { readerIds: [bob.id] });
    expect((await put()).body.artifactIds).toEqual([id]);
  });

  it('is not created in a session or project of another user', async () => {
    const app = await createArtifactApp();
    const bob = await addStranger(app);
    const session = (await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
    const project = (await app.json('POST', '/api/v1/projects', { body: { name: 'x', description: 'x' } }))
      .body.id;
    expect((await add(app, { session_id: session }, bob.key)).error).toBe('Session not found');
    expect((await add(app, { project_id: project }, bob.key)).error).toBe('Project not found');
    expect((await app.json('GET', PATH, { credential: bob.key })).body.data).toEqual([]);
  });

  it('can be created for a model on behalf of its user', async () => {
    const app = await createArtifactApp();
    const sessionId = (await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' } })).body.id;
    const { id } = await makeArtifact(app.services, app.user.id, { ...WISH, sessionId });
    const { body } = await app.json('GET', `${PATH}/${id}`);
    expect(body).toMatchObject({ title: 'Sort', content: 'one', session_id: sessionId });
    await app.services.adminSettings.set('EnableArtifacts', false);
    await expect(makeArtifact(app.services, app.user.id, { ...WISH, sessionId })).rejects.toThrow(
      'Artifacts are switched off',
    );
  });
});
