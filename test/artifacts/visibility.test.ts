import { describe, expect, it } from 'vitest';
import { makeArtifact, makeProject } from '../support/owned-resources.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

async function setUp() {
  const app = await createTestApp();
  const [grace, eve] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
  return { app, ada: app.user, grace, eve };
}

describe('visibility of an artifact', () => {
  it('grants and revokes access of its organization, its project or all users', async () => {
    const { app, ada, grace, eve } = await setUp();
    const organization = (await callAs(app, ada, 'POST', '/api/organizations', { name: 'Engines' })).body._id;
    await shareWith(app, ada, `organization/${organization}`, grace);
    const project = await makeProject(app, ada);
    const made = await callAs(app, ada, 'POST', '/api/v1/artifacts', {
      type: 'code',
      title: 'Loop',
      content: 'for (;;);',
      project_id: project,
    });
    const path = `/api/v1/artifacts/${made.body.id}` as const;
    await shareWith(app, ada, `project/${project}`, eve);
    const seenBy = async (visibility: string) => {
      expect((await callAs(app, ada, 'PATCH', path, { visibility })).body.visibility).toBe(visibility);
      const answers = [await callAs(app, grace, 'GET', path), await callAs(app, eve, 'GET', path)];
      return answers.map(({ status }) => status);
    };
    expect(await seenBy('project')).toEqual([404, 200]);
    expect(await seenBy('organization')).toEqual([200, 404]);
    expect(await seenBy('public')).toEqual([200, 200]);
    expect(await seenBy('private')).toEqual([404, 404]);
  });
});

describe('version of an artifact', () => {
  it('has a tag and a description of its change', async () => {
    const { app, ada } = await setUp();
    const id = await makeArtifact(app, ada);
    const path = `/api/v1/artifacts/${id}` as const;
    expect((await callAs(app, ada, 'PATCH', path, { version_tag: 'first' })).body).toMatchObject({
      version: 1,
      version_tag: 'first',
    });
    const change = { content: 'while (true);', change_description: 'Another loop.' };
    expect((await callAs(app, ada, 'PATCH', path, change)).body).toMatchObject({
      version: 2,
      version_tag: null,
    });
    const { body } = await callAs(app, ada, 'GET', `${path}/versions`);
    expect(body.data).toMatchObject([
      { version: 1, version_tag: 'first', change_description: null },
      { version: 2, version_tag: null, change_description: 'Another loop.' },
    ]);
    expect((await callAs(app, ada, 'PATCH', path, { version_tag: 'second' })).body.version).toBe(2);
    expect((await callAs(app, ada, 'GET', `${path}/versions/2`)).body.version_tag).toBe('second');
  });
});
