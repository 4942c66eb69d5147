import { PROJECTS } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../packages/core/test/late-store.ts';
import { makeFile, makeProject, makeSession } from '../support/owned-resources.ts';
import { callAs, readList, shareWith } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

const PATH = '/api/v1/projects';

/** A project of Ada, which Grace may change. */
async function setUp(wrap: (store: Store) => Store = (store) => store) {
  let meanwhile: (() => Promise<unknown>) | undefined;
  const app = await createTestApp({
    store: (store) => ({
      ...wrap(store),
      async transaction(...given) {
        const act = meanwhile;
        meanwhile = undefined;
        await act?.();
        return wrap(store).transaction(...given);
      },
    }),
  });
  const grace = await app.addUser('grace@example.com');
  const id = await makeProject(app, app.user);
  await shareWith(app, app.user, `project/${id}`, grace, 'write');
  const change = (body: object, who = app.user) => callAs(app, who, 'PATCH', `${PATH}/${id}`, body);
  /** Lets something happen before the next transaction. */
  const before = (act: () => Promise<unknown>) => {
    meanwhile = act;
  };
  return { app, ada: app.user, grace, id, change, before };
}

describe('change of a project', () => {
  it('sets what it names, and the time', async () => {
    const { app, ada, id, change } = await setUp();
    const files = [await makeFile(app, ada)];
    const sessions = [await makeSession(app, ada)];
    const made = (await callAs(app, ada, 'GET', `${PATH}/${id}`)).body;
    await app.clock.advance(1000);
    const wanted = { name: 'Loom', description: 'Of cards.', file_ids: files, session_ids: sessions };
    const updated_at = new Date(app.clock.now()).toISOString();
    expect(await change(wanted)).toEqual({ status: 200, body: { ...made, ...wanted, updated_at } });
    expect((await change({ description: 'Of wood.' })).body).toMatchObject({
      ...wanted,
      description: 'Of wood.',
    });
    // The former name is free, and the new one is not.
    const again = (name: string) => callAs(app, ada, 'POST', PATH, { name, description: 'x' });
    expect([(await again(made.name)).status, (await again('Loom')).status]).toEqual([201, 422]);
  });

  it('refuses the name of another project of the owner', async () => {
    const { app, ada, change } = await setUp();
    await callAs(app, ada, 'POST', PATH, { name: 'Loom', description: 'x' });
    expect(await change({ name: 'Loom' })).toMatchObject({
      status: 422,
      body: { error: 'name: you have another project with this name' },
    });
  });

  it('refuses files and sessions that the user cannot read', async () => {
    const { app, grace, change } = await setUp();
    const [file, session] = [await makeFile(app, grace), await makeSession(app, grace)];
    expect(await change({ file_ids: [file] })).toMatchObject({
      status: 400,
      body: { error: 'file_ids.0: file not found' },
    });
    expect(await change({ session_ids: [session] })).toMatchObject({
      status: 400,
      body: { error: 'session_ids.0: session not found' },
    });
  });

  it('refuses more than the maximum with the files of others', async () => {
    const { app, grace, id, change } = await setUp();
    const fileIds = Array.from({ length: 500 }, (_, at) => at.toString(16).padStart(24, 'e'));
    await app.services.store.collection(PROJECTS).update(id, { fileIds });
    expect(await change({ file_ids: [await makeFile(app, grace)] }, grace)).toMatchObject({
      status: 422,
      body: { error: 'file_ids: the project has the maximum of 500 with those of other users' },
    });
  });

  it('does not add again what was removed meanwhile and was not checked', async () => {
    const { app, ada, grace, change, before } = await setUp();
    const file = await makeFile(app, ada);
    await change({ file_ids: [file] });
    before(() => change({ file_ids: [] }));
    expect((await change({ file_ids: [file] }, grace)).body.file_ids).toEqual([]);
  });
});

describe('project with many parts', () => {
  it('is shown by each session at once', async () => {
    const { app, ada } = await setUp();
    const sessions: string[] = [];
    for (let made = 0; made < 20; made += 1) sessions.push(await makeSession(app, ada));
    const body = { name: 'Loom', description: 'x', session_ids: sessions };
    const { id } = (await callAs(app, ada, 'POST', PATH, body)).body;
    for (const session of sessions) {
      expect((await callAs(app, ada, 'GET', `/api/sessions/${session}`)).body.projectId).toBe(id);
    }
  });

  it('leaves its artifacts when it is deleted', async () => {
    const { app, ada, id } = await setUp(withLateWrites);
    const body = { type: 'code', title: 'Loop', content: 'for (;;);', project_id: id };
    for (let made = 0; made < 20; made += 1) await callAs(app, ada, 'POST', '/api/v1/artifacts', body);
    const listed = async () => {
      const artifacts = await readList(app, ada, '/api/v1/artifacts?limit=100', 'data');
      return artifacts.map((artifact) => (artifact as { project_id?: unknown }).project_id);
    };
    expect(await listed()).toEqual(Array(20).fill(id));
    expect((await callAs(app, ada, 'DELETE', `${PATH}/${id}`)).status).toBe(204);
    expect(await listed()).toEqual(Array(20).fill(null));
  });

  it('is listed with the permission of those with whom it is shared', async () => {
    const { app, ada, grace, id } = await setUp();
    expect(await readList(app, grace, `${PATH}?shared=true`, 'data')).toMatchObject([
      { id, permission: 'write' },
    ]);
    const [own] = await readList(app, ada, PATH, 'data');
    expect(own).not.toHaveProperty('permission');
  });
});
