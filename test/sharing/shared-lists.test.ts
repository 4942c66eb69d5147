import { describe, expect, it } from 'vitest';
import {
  type Maker,
  makeAgent,
  makeArtifact,
  makeFile,
  makeOrganization,
  makeProject,
  makeSession,
} from '../support/owned-resources.ts';
import { callAs, readList, shareWith } from '../support/sharing.ts';
import { createCountingStore } from '../support/store.ts';
import { createTestApp } from '../support/test-app.ts';

interface Kind {
  readonly make: Maker;
  readonly name: string;
  /** Paths of its lists, with the field that contains the entries. */
  readonly lists: readonly (readonly [path: string, field: string])[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  project: { make: makeProject, name: 'Engine', lists: [['/api/v1/projects', 'data']] },
  session: { make: makeSession, name: 'Notes', lists: [['/api/v1/sessions', 'data']] },
  file: { make: makeFile, name: 'notes.txt', lists: [['/api/v1/files', 'data']] },
  artifact: { make: makeArtifact, name: 'Loop', lists: [['/api/v1/artifacts', 'data']] },
  agent: {
    make: makeAgent,
    name: 'Muse',
    lists: [
      ['/api/v1/agents', 'data'],
      ['/api/agents', 'agents'],
    ],
  },
};

const ALL: Readonly<Record<string, Kind>> = {
  ...KINDS,
  organization: { make: makeOrganization, name: 'Analytical Engines', lists: [] },
};

async function people(options: Parameters<typeof createTestApp>[0] = {}) {
  const app = await createTestApp(options);
  return { app, ada: app.user, grace: await app.addUser('grace@example.com') };
}

describe.each(Object.entries(KINDS))('shared %s', (type, { make, name, lists }) => {
  it('is named by the answer to the acceptance and listed with its permission', async () => {
    const { app, ada, grace } = await people();
    const id = await make(app, ada);
    expect((await shareWith(app, ada, `${type}/${id}`, grace, 'read')).body).toEqual({
      success: true,
      message: 'The invite is accepted',
      resource: { type, id, name },
    });
    for (const [path, field] of lists) {
      const entries = await readList(app, grace, `${path}?shared=true`, field);
      expect(entries).toEqual([expect.objectContaining({ id, permission: 'read' })]);
      expect(await readList(app, grace, path, field)).toEqual([]);
      expect(await readList(app, ada, `${path}?shared=true`, field)).toEqual([]);
      expect((await readList(app, ada, path, field))[0]).not.toHaveProperty('permission');
    }
    await shareWith(app, ada, `${type}/${id}`, grace, 'write');
    for (const [path, field] of lists)
      expect(await readList(app, grace, `${path}?shared=true`, field)).toMatchObject([
        { id, permission: 'write' },
      ]);
  });

  it('is listed with a constant number of store calls', async () => {
    const counting = createCountingStore();
    const { app, ada, grace } = await people({ store: counting.wrap });
    const [[path = '', field = ''] = []] = lists;
    const count = async () => {
      counting.calls = 0;
      await readList(app, grace, `${path}?shared=true`, field);
      return counting.calls;
    };
    await shareWith(app, ada, `${type}/${await make(app, ada)}`, grace);
    const one = await count();
    for (let more = 0; more < 5; more += 1) {
      const owner = await app.addUser(`owner${more}@example.com`);
      await shareWith(app, owner, `${type}/${await make(app, owner)}`, grace);
    }
    expect(await readList(app, grace, `${path}?shared=true`, field)).toHaveLength(6);
    expect(await count()).toBe(one);
  });
});

describe.each(Object.entries(ALL))('leaving a shared %s', (type, { make, lists }) => {
  it.each(['leave', 'revokeSharing'])('removes the own share at once: %s', async (verb) => {
    const { app, ada, grace } = await people();
    const eve = await app.addUser('eve@example.com');
    const id = await make(app, ada);
    await shareWith(app, ada, `${type}/${id}`, grace, 'write');
    await shareWith(app, ada, `${type}/${id}`, eve);
    const path = `/api/${type}/${id}` as const;
    const body = verb === 'leave' ? {} : { userId: grace.id };
    expect((await callAs(app, grace, 'POST', `${path}/${verb}`, body)).body.success).toBe(true);
    expect((await callAs(app, grace, 'GET', path)).status).toBe(404);
    expect((await callAs(app, grace, 'POST', `${path}/leave`, {})).status).toBe(404);
    expect((await callAs(app, eve, 'GET', path)).status).toBe(200);
    for (const [address, field] of lists)
      expect(await readList(app, grace, `${address}?shared=true`, field)).toEqual([]);
  });
});

describe('invite', () => {
  it('shows its sender and its resource', async () => {
    const { app, ada, grace } = await people();
    const id = await makeSession(app, ada);
    const made = await callAs(app, ada, 'POST', `/api/session/${id}/invites`, { email: grace.email });
    const shown = {
      resource: { type: 'session', id, name: 'Notes' },
      sender: { name: 'ada', email: 'ada@example.com' },
    };
    expect(made.body).toMatchObject(shown);
    expect((await callAs(app, grace, 'GET', '/api/invites')).body.invites).toMatchObject([shown]);
    expect((await callAs(app, grace, 'GET', `/api/invite/${made.body._id}`)).body).toMatchObject(shown);
  });

  it('is deleted with the resource that it offers', async () => {
    const { app, ada, grace } = await people();
    const [gone, kept] = [await makeSession(app, ada), await makeSession(app, ada)];
    const ids: string[] = [];
    for (const id of [gone, kept]) {
      const { body } = await callAs(app, ada, 'POST', `/api/session/${id}/invites`, { email: grace.email });
      ids.push(body._id);
    }
    await callAs(app, ada, 'DELETE', `/api/sessions/${gone}`);
    expect((await callAs(app, grace, 'GET', `/api/invite/${ids[0]}`)).status).toBe(404);
    expect((await callAs(app, grace, 'GET', '/api/invites?limit=1')).body).toMatchObject({
      invites: [{ _id: ids[1] }],
      pagination: { total: 1, pages: 1 },
    });
    expect((await callAs(app, grace, 'POST', `/api/invites/${ids[0]}/accept`)).status).toBe(404);
  });
});

describe('write share of a project', () => {
  it('allows changing name, description, sessions and files, but no sharing or deletion', async () => {
    const { app, ada, grace } = await people();
    const id = await makeProject(app, ada);
    const path = `/api/v1/projects/${id}` as const;
    const [session, file] = [await makeSession(app, ada), await makeFile(app, ada)];
    await callAs(app, ada, 'PATCH', path, { session_ids: [session], file_ids: [file] });
    const change = (body: object) => callAs(app, grace, 'PATCH', path, body);
    await shareWith(app, ada, `project/${id}`, grace, 'read');
    expect((await callAs(app, grace, 'GET', path)).status).toBe(200);
    expect((await change({ name: 'Ours' })).status).toBe(404);
    await shareWith(app, ada, `project/${id}`, grace, 'write');
    const mine = await makeSession(app, grace);
    expect((await change({ name: 'Ours', description: 'New.' })).body).toMatchObject({
      name: 'Ours',
      description: 'New.',
      session_ids: [session],
    });
    expect((await change({ session_ids: [mine], file_ids: [] })).body).toMatchObject({
      session_ids: [mine, session],
      file_ids: [file],
    });
    expect((await change({ session_ids: [session] })).body.session_ids).toEqual([session]);
    expect((await callAs(app, grace, 'DELETE', path)).status).toBe(404);
    const invites = `/api/project/${id}/invites`;
    expect((await callAs(app, grace, 'POST', invites, { email: 'x@example.com' })).status).toBe(403);
  });
});

describe('write share of an agent', () => {
  it('allows changing name, description and fields, but no publishing, sharing or deletion', async () => {
    const { app, ada, grace } = await people();
    const id = await makeAgent(app, ada);
    await callAs(app, ada, 'PATCH', `/api/v1/agents/${id}`, { system_prompt: 'Be kind.' });
    await shareWith(app, ada, `agent/${id}`, grace, 'read');
    const put = (body: object) => callAs(app, grace, 'PUT', `/api/agents/${id}`, body);
    const patch = (body: object) => callAs(app, grace, 'PATCH', `/api/v1/agents/${id}`, body);
    expect([(await put({ name: 'X' })).status, (await patch({ name: 'X' })).status]).toEqual([403, 404]);
    await shareWith(app, ada, `agent/${id}`, grace, 'write');
    const asRead = (await callAs(app, grace, 'GET', `/api/agents/${id}`)).body;
    expect((await put({ ...asRead, name: 'Ours' })).body).toMatchObject({ name: 'Ours', isPublic: false });
    expect((await put({ isPublic: true })).body.error).toMatchObject({ code: 'AGENT_ACCESS_DENIED' });
    const changed = await patch({ description: 'New.', temperature: 1, system_prompt: null });
    expect(changed.body).toMatchObject({ description: 'New.', temperature: 1, system_prompt: null });
    expect((await patch({ system_prompt: 'Be rude.' })).status).toBe(403);
    const { body: own } = await callAs(app, ada, 'GET', `/api/v1/agents/${id}`);
    expect(own).toMatchObject({ name: 'Ours', system_prompt: 'Be kind.' });
    expect((await callAs(app, grace, 'DELETE', `/api/v1/agents/${id}`)).status).toBe(404);
    expect((await callAs(app, grace, 'DELETE', `/api/agents/${id}/delete`)).status).toBe(403);
    const invites = `/api/agent/${id}/invites`;
    expect((await callAs(app, grace, 'POST', invites, { email: 'x@example.com' })).status).toBe(403);
  });
});

describe('sessions and files of a project', () => {
  it('are added and removed by its owner, and its sessions show it', async () => {
    const { app, ada, grace } = await people();
    const id = await makeProject(app, ada);
    const [first, second] = [await makeSession(app, ada), await makeSession(app, ada)];
    const file = await makeFile(app, ada);
    const patch = (body: object) => callAs(app, ada, 'PATCH', `/api/v1/projects/${id}`, body);
    const shown = async (session: string) =>
      (await callAs(app, ada, 'GET', `/api/sessions/${session}`)).body.projectId;
    const lists = { session_ids: [first, second], file_ids: [file] };
    expect((await patch(lists)).body).toMatchObject(lists);
    expect([await shown(first), await shown(second)]).toEqual([id, id]);
    expect((await patch({ session_ids: [second] })).body).toMatchObject({
      session_ids: [second],
      file_ids: [file],
    });
    expect([await shown(first), await shown(second)]).toEqual([null, id]);
    const theirs = await makeFile(app, grace);
    expect(await patch({ file_ids: [file, theirs] })).toMatchObject({
      status: 400,
      body: { error: 'file_ids.1: file not found' },
    });
    expect((await patch({ file_ids: [] })).body.file_ids).toEqual([]);
  });
});
