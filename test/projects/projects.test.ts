import type { UserRecord } from '@questline/core';
import { PROJECTS, SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { makeFile } from '../support/owned-resources.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import type { TestApp } from '../support/test-app.ts';

const PATH = '/api/v1/projects';
const SCOPES = [
  'projects:read',
  'projects:write',
  'notebooks:read',
  'notebooks:write',
  'files:write',
] as const;

const createProjectApp = (options: Parameters<typeof createChatApp>[0] = {}): Promise<ChatApp> =>
  createChatApp({ ...options, key: { scopes: SCOPES } });

async function addSession(app: ChatApp, credential = app.key): Promise<string> {
  return (await app.json('POST', '/api/v1/sessions', { body: { name: 'Work' }, credential })).body.id;
}

async function addProject(app: ChatApp, input: object = {}, credential = app.key) {
  const body = { name: 'Engine', description: 'All about it.', ...input };
  return app.json('POST', PATH, { body, credential });
}

/** Another user with an API key of the same scopes. */
async function addStranger(app: TestApp): Promise<{ id: string; key: string }> {
  const { id } = await app.addUser('bob@example.com');
  return { id, key: (await app.issue({ userId: id, scopes: SCOPES })).key };
}

const getProject = async (app: ChatApp, sessionId: string, credential = app.key) =>
  (await app.json('GET', `/api/sessions/${sessionId}`, { credential })).body.projectId;

describe('project of a session', () => {
  it('is shown by the sessions of its owner: the last one of two, and none after deletion', async () => {
    const app = await createProjectApp();
    const [first, second] = [await addSession(app), await addSession(app)];
    const one = (await addProject(app, { session_ids: [first, second] })).body;
    const other = (await addProject(app, { name: 'Other', session_ids: [second] })).body;
    expect([await getProject(app, first), await getProject(app, second)]).toEqual([one.id, other.id]);
    // A change of the first project does not take back what the second one has.
    const third = await addSession(app);
    const session_ids = [first, second, third];
    await app.json('PATCH', `${PATH}/${one.id}`, { body: { session_ids } });
    expect([await getProject(app, second), await getProject(app, third)]).toEqual([other.id, one.id]);
    expect((await app.json('DELETE', `${PATH}/${one.id}`)).status).toBe(204);
    expect([await getProject(app, first), await getProject(app, second)]).toEqual([null, other.id]);
    expect((await app.json('GET', `${PATH}/${one.id}`)).status).toBe(404);
  });

  it('accepts sessions shared with its owner without changing them', async () => {
    const app = await createProjectApp();
    const { id: bob, key } = await addStranger(app);
    const theirs = await addSession(app, key);
    const refused = await addProject(app, { session_ids: [theirs] });
    const unknown = await addProject(app, { session_ids: ['0'.repeat(24)] });
    expect([refused.status, refused.body.error]).toEqual([400, unknown.body.error]);
    await app.services.store.collection(SESSIONS).update(theirs, { readerIds: [app.user.id] });
    const { status, body } = await addProject(app, { session_ids: [theirs] });
    expect([status, body.session_ids]).toEqual([201, [theirs]]);
    expect(await getProject(app, theirs, key)).toBeNull();
    expect(bob).not.toBe(app.user.id);
  });

  it('does not list a deleted session', async () => {
    const app = await createProjectApp();
    const [first, second] = [await addSession(app), await addSession(app)];
    const { id } = (await addProject(app, { session_ids: [first, second] })).body;
    await app.json('DELETE', `/api/sessions/${first}`);
    const listed = async () => (await app.json('GET', `${PATH}/${id}`)).body.session_ids;
    while ((await listed()).length > 1) await app.clock.advance(1000);
    expect(await listed()).toEqual([second]);
  });

  it('does not list a deleted file and rejects files of other users', async () => {
    const app = await createProjectApp();
    const bob = await app.addUser('eve@example.com');
    const file = await makeFile(app, app.user);
    const theirs = await makeFile(app, bob);
    expect((await addProject(app, { file_ids: [file, theirs] })).body.error).toBe(
      'file_ids.1: file not found',
    );
    const { id } = (await addProject(app, { file_ids: [file] })).body;
    const listed = async () => (await app.json('GET', `${PATH}/${id}`)).body.file_ids;
    expect(await listed()).toEqual([file]);
    await app.json('DELETE', `/api/v1/files/${file}`);
    while ((await listed()).length > 0) await app.clock.advance(1000);
  });

  it('is unknown to strangers, who can neither change nor delete it', async () => {
    const app = await createProjectApp();
    const { key } = await addStranger(app);
    const { id } = (await addProject(app)).body;
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { name: 'Mine' }],
      ['DELETE', undefined],
    ] as const) {
      const foreign = await app.json(method, `${PATH}/${id}`, { credential: key, body });
      const unknown = await app.json(method, `${PATH}/${'0'.repeat(24)}`, { credential: key, body });
      expect([foreign.status, foreign.body.error]).toEqual([404, unknown.body.error]);
    }
    expect((await app.json('GET', PATH, { credential: key })).body.data).toEqual([]);
    expect((await app.json('GET', `${PATH}/${id}`)).body.name).toBe('Engine');
  });

  it('has a unique name per owner, which is free after deletion', async () => {
    const app = await createProjectApp();
    const { key } = await addStranger(app);
    const { id } = (await addProject(app)).body;
    expect((await addProject(app)).status).toBe(422);
    expect((await addProject(app, {}, key)).status).toBe(201);
    await app.json('DELETE', `${PATH}/${id}`);
    expect((await addProject(app)).status).toBe(201);
    const parallel = await Promise.all(Array.from({ length: 10 }, () => addProject(app, { name: 'Racer' })));
    expect(parallel.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(422)]);
  });

  it('is listed for older clients oldest first, without those of strangers', async () => {
    const app = await createProjectApp();
    const { key } = await addStranger(app);
    for (const name of ['Zinc', 'Engine', 'Zebra']) {
      await addProject(app, { name });
      await app.clock.advance(1);
    }
    await addProject(app, { name: 'Zoo' }, key);
    const list = async (query = '') => {
      const credential = await app.token();
      const { body } = await app.json('GET', `/api/projects${query}`, { credential });
      return body.data.map(({ name }: { name: string }) => name);
    };
    expect(await list()).toEqual(['Zinc', 'Engine', 'Zebra']);
    expect(await list('?search=Z')).toEqual(['Zinc', 'Zebra']);
  });

  it('is listed page by page, oldest first, once', async () => {
    const app = await createProjectApp();
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) {
      await addProject(app, { name });
      await app.clock.advance(1);
    }
    const seen: string[] = [];
    let query = '?limit=2';
    for (let pages = 0; pages < 3; pages += 1) {
      const { body } = await app.json('GET', `${PATH}${query}`);
      seen.push(...body.data.map(({ name }: { name: string }) => name));
      query = `?limit=2&cursor=${body.next_cursor}`;
    }
    expect(seen).toEqual(names);
    const { key } = await addStranger(app);
    const first = await app.json('GET', `${PATH}?limit=2`);
    const path = `${PATH}?cursor=${first.body.next_cursor}`;
    expect((await app.json('GET', path, { credential: key })).status).toBe(422);
  });
});

describe('single member of a project', () => {
  const setUp = async () => {
    const app = await createProjectApp();
    const grace = await app.addUser('grace@example.com');
    const project = (await addProject(app)).body.id as string;
    await shareWith(app, app.user, `project/${project}`, grace, 'write');
    const change = (
      who: UserRecord,
      method: 'POST' | 'DELETE',
      member: `${'files' | 'sessions'}/${string}`,
    ) => callAs(app, who, method, `${PATH}/${project}/${member}`);
    return { app, ada: app.user, grace, project, change };
  };

  it('is added and removed without affecting others, and shown by its session', async () => {
    const { app, ada, project, change } = await setUp();
    const [first, second] = [await addSession(app), await addSession(app)];
    const file = await makeFile(app, ada);
    await change(ada, 'POST', `sessions/${first}`);
    const added = await change(ada, 'POST', `sessions/${second}`);
    expect(added).toMatchObject({ status: 200, body: { session_ids: [first, second] } });
    expect((await change(ada, 'POST', `sessions/${first}`)).body.session_ids).toEqual([first, second]);
    expect((await change(ada, 'POST', `files/${file}`)).body.file_ids).toEqual([file]);
    expect([await getProject(app, first), await getProject(app, second)]).toEqual([project, project]);
    const removed = await change(ada, 'DELETE', `sessions/${first}`);
    expect(removed.body).toMatchObject({ session_ids: [second], file_ids: [file] });
    expect(await getProject(app, first)).toBeNull();
    expect((await change(ada, 'DELETE', `files/${file}`)).body.file_ids).toEqual([]);
    expect((await change(ada, 'DELETE', `files/${file}`)).status).toBe(404);
  });

  it('survives parallel additions', async () => {
    const { app, ada, change } = await setUp();
    const sessions = await Promise.all(Array.from({ length: 10 }, () => addSession(app)));
    await Promise.all(sessions.map((id) => change(ada, 'POST', `sessions/${id}`)));
    const { body } = await change(ada, 'POST', `sessions/${sessions[0]}`);
    expect(body.session_ids.toSorted()).toEqual(sessions.toSorted());
  });

  it('is removed by the owner and by the user who added it, not by another one', async () => {
    const { app, ada, grace, change } = await setUp();
    const [hers, mine] = [await makeFile(app, ada), await makeFile(app, grace)];
    await change(ada, 'POST', `files/${hers}`);
    await change(grace, 'POST', `files/${mine}`);
    // The file is already a member: adding it again does not change who added it.
    await change(grace, 'POST', `files/${hers}`);
    expect((await change(grace, 'DELETE', `files/${hers}`)).status).toBe(403);
    expect((await change(grace, 'DELETE', `files/${mine}`)).body.file_ids).toEqual([hers]);
    await change(grace, 'POST', `files/${mine}`);
    expect((await change(ada, 'DELETE', `files/${mine}`)).body.file_ids).toEqual([hers]);
  });

  it('answers 404 for an unreadable member as for an unknown project', async () => {
    const { app, ada, grace, project, change } = await setUp();
    const theirs = await makeFile(app, grace);
    const refused = await change(ada, 'POST', `files/${theirs}`);
    const unknown = await change(ada, 'POST', `files/${'0'.repeat(24)}`);
    expect([refused.status, refused.body.error]).toEqual([404, unknown.body.error]);
    const bob = await app.addUser('bob@example.com');
    const file = await makeFile(app, bob);
    expect((await change(bob, 'POST', `files/${file}`)).body.error).toBe('Project not found');
    await callAs(app, grace, 'POST', `/api/project/${project}/leave`, {});
    expect((await change(grace, 'POST', `files/${theirs}`)).status).toBe(404);
  });

  it('is rejected beyond the maximum', async () => {
    const { app, ada, project, change } = await setUp();
    const many = Array.from({ length: 500 }, (_, at) => at.toString(16).padStart(24, 'e'));
    await app.services.store.collection(PROJECTS).update(project, { fileIds: many });
    const { status, body } = await change(ada, 'POST', `files/${await makeFile(app, ada)}`);
    expect([status, body.error]).toEqual([
      422,
      'file_ids: the project has the maximum of 500 with those of other users',
    ]);
  });
});
