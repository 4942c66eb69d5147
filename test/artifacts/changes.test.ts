import {
  ARTIFACT_VERSIONS,
  ARTIFACTS,
  makeArtifact,
  SESSIONS,
  STORAGE_USAGE,
} from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../packages/core/test/late-store.ts';
import { makeProject, makeSession } from '../support/owned-resources.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

const PATH = '/api/v1/artifacts';
const WISH = { type: 'code', title: 'Loop', content: 'for (;;);' } as const;
const QUOTA = { settings: { storageQuotas: { artifacts: 1000 } } };

async function setUp(options: TestAppOptions = {}) {
  const app = await createTestApp(options);
  const { store } = app.services;
  const ask = <const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    body?: object,
    user = app.user,
  ) => callAs(app, user, method, path, body);
  const create = async (more: object = {}) => {
    const { status, body } = await ask('POST', PATH, { ...WISH, ...more });
    expect(status, JSON.stringify(body)).toBe(201);
    return body;
  };
  const readUsage = async () =>
    (await store.collection(STORAGE_USAGE).get(`${app.user.id}:artifacts`))?.bytes ?? 0;
  return { app, store, ask, create, readUsage };
}

describe('an artifact', () => {
  it('has the description that it is created with, or none', async () => {
    const { ask, create } = await setUp();
    const described = await create({ description: 'Never ends.' });
    expect(described.description).toBe('Never ends.');
    expect((await ask('GET', `${PATH}/${described.id}`)).body.description).toBe('Never ends.');
    expect((await create()).description).toBeNull();
  });

  it('has the time of its last change', async () => {
    const { app, ask, create } = await setUp();
    const { id, created_at, updated_at } = await create();
    expect(updated_at).toBe(created_at);
    await app.clock.advance(1000);
    const { body } = await ask('PATCH', `${PATH}/${id}`, { title: 'Other' });
    expect(body).toMatchObject({ title: 'Other', version: 1, created_at });
    expect(Date.parse(body.updated_at) - Date.parse(created_at)).toBe(1000);
  });

  it('may get a tag with its new content', async () => {
    const { ask, create } = await setUp();
    const { id } = await create();
    const { body } = await ask('PATCH', `${PATH}/${id}`, { content: 'Other', version_tag: 'second' });
    expect(body).toMatchObject({ version: 2, version_tag: 'second' });
    const { body: versions } = await ask('GET', `${PATH}/${id}/versions`);
    expect(versions.data).toMatchObject([{ version_tag: null }, { version_tag: 'second' }]);
  });

  it('is made once by a tool call', async () => {
    const { app, store } = await setUp();
    const make = () => makeArtifact(app.services, app.user.id, { ...WISH, madeBy: 'call' });
    await make();
    await expect(make()).rejects.toMatchObject({ status: 409 });
    expect(await store.collection(ARTIFACT_VERSIONS).count({})).toBe(1);
  });

  it('is written completely before the answer', async () => {
    const { app, store, ask, create, readUsage } = await setUp({ ...QUOTA, store: withLateWrites });
    const sessionId = await makeSession(app, app.user);
    const { id } = await create({ session_id: sessionId });
    expect((await store.collection(SESSIONS).get(sessionId))?.artifactIds).toEqual([id]);
    const used = await readUsage();
    expect(used).toBeGreaterThan(0);
    const { body } = await ask('PATCH', `${PATH}/${id}`, { content: 'Other.' });
    expect((await ask('GET', `${PATH}/${id}/versions/${body.version}`)).body.content).toBe('Other.');
    await ask('PATCH', `${PATH}/${id}`, { version_tag: 'last' });
    expect((await ask('GET', `${PATH}/${id}/versions/${body.version}`)).body.version_tag).toBe('last');
    expect(await readUsage()).toBeGreaterThan(used);
    expect((await ask('DELETE', `${PATH}/${id}`)).status).toBe(204);
    expect(await readUsage()).toBe(0);
    expect(await store.collection(ARTIFACT_VERSIONS).count({})).toBe(0);
  });
});

describe('visibility of an artifact', () => {
  it('is changed only by its owner', async () => {
    const { app, ask, create } = await setUp();
    const { id } = await create();
    const bob = await app.addUser('bob@example.com');
    await app.services.store.collection(ARTIFACTS).update(id, { writerIds: [bob.id] });
    const refused = await ask('PATCH', `${PATH}/${id}`, { visibility: 'public' }, bob);
    expect([refused.status, refused.body.error]).toEqual([
      403,
      'Only the owner may change the visibility of an artifact',
    ]);
    const same = await ask('PATCH', `${PATH}/${id}`, { visibility: 'private', title: 'Other' }, bob);
    expect(same.body).toMatchObject({ title: 'Other', visibility: 'private' });
  });

  it('includes a project only if the artifact belongs to one', async () => {
    const { app, ask, create } = await setUp();
    const { id } = await create();
    expect((await ask('PATCH', `${PATH}/${id}`, { visibility: 'project' })).status).toBe(422);
    expect((await ask('PATCH', `${PATH}/${id}`, { visibility: 'public' })).body.visibility).toBe('public');
    const inProject = await create({ project_id: await makeProject(app, app.user) });
    const { body } = await ask('PATCH', `${PATH}/${inProject.id}`, { visibility: 'project' });
    expect(body.visibility).toBe('project');
  });
});

describe('an artifact of a session', () => {
  it('leaves no trace in an own session when it is refused', async () => {
    const { app, store, ask } = await setUp({ settings: { storageQuotas: { artifacts: 100 } } });
    const sessionId = await makeSession(app, app.user);
    const before = await store.collection(SESSIONS).get(sessionId);
    expect((await ask('POST', PATH, { ...WISH, session_id: sessionId })).status).toBe(422);
    expect(await store.collection(SESSIONS).get(sessionId)).toEqual(before);
  });

  it('is linked by the user who adds it', async () => {
    const { app, store, create } = await setUp();
    const owner = await app.addUser('owner@example.com');
    const shared = await makeSession(app, owner);
    await shareWith(app, owner, `session/${shared}`, app.user, 'write');
    const { id } = await create({ session_id: shared });
    expect((await store.collection(SESSIONS).get(shared))?.linkedBy).toEqual({ [id]: app.user.id });
    const own = await makeSession(app, app.user);
    await create({ session_id: own });
    expect((await store.collection(SESSIONS).get(own))?.linkedBy).toBeUndefined();
  });

  it('is not created in a session that does not exist', async () => {
    const { ask, store } = await setUp();
    for (const session_id of ['none', '0'.repeat(24)]) {
      const { status, body } = await ask('POST', PATH, { ...WISH, session_id });
      expect([status, body.error]).toEqual([404, 'Session not found']);
    }
    expect(await store.collection(ARTIFACTS).count({})).toBe(0);
  });
});

describe('many artifacts', () => {
  it('leave a deleted project, and those of other projects stay', async () => {
    const { app, store, ask, create } = await setUp({ store: withLateWrites });
    const [project, other] = [await makeProject(app, app.user), await makeProject(app, app.user)];
    const { id } = await create({ project_id: project });
    const kept = await create({ project_id: other });
    const artifacts = store.collection(ARTIFACTS);
    const first = await artifacts.get(id);
    if (first === undefined) throw new Error('no artifact');
    for (let number = 0; number < 400; number += 1)
      await artifacts.insert({ ...first, id: app.services.ids.next() });
    await ask('DELETE', `/api/v1/projects/${project}`);
    expect(await artifacts.count({ projectId: project })).toBe(0);
    expect((await ask('GET', `${PATH}/${kept.id}`)).body.project_id).toBe(other);
  });

  it('release the bytes of all their versions, in any order of ids', async () => {
    const { app, store, ask, create, readUsage } = await setUp(QUOTA);
    const { id } = await create();
    const other = await create();
    const used = await readUsage();
    const versions = store.collection(ARTIFACT_VERSIONS);
    const [first] = await versions.find({ artifactId: id });
    if (first === undefined) throw new Error('no version');
    const ids = Array.from({ length: 250 }, () => app.services.ids.next()).reverse();
    for (const [at, versionId] of ids.entries()) {
      // Versions from before the count have no size.
      const { bytes: _bytes, ...old } = first;
      await versions.insert({
        ...(at % 2 === 0 ? old : { ...first, bytes: 1 }),
        id: versionId,
        version: at + 2,
      });
    }
    await store.collection(STORAGE_USAGE).update(`${app.user.id}:artifacts`, { bytes: used + 125 });
    expect((await ask('DELETE', `${PATH}/${id}`)).status).toBe(204);
    // Those of the other artifact are left.
    expect(await readUsage()).toBe(used / 2);
    expect(await versions.count({})).toBe(1);
    expect((await ask('GET', `${PATH}/${other.id}`)).body.content).toBe(WISH.content);
  });
});
