import { SESSIONS, SHARING_INVITES } from '@questline/core/internal';
import { forgetUser } from '@questline/core/personal-data';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../packages/core/test/delayed.ts';
import { makeArtifact, makeOrganization, makeSession } from '../support/owned-resources.ts';
import { callAs, shareWith, toInvites } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

/** Every call of the store takes effect some turns later, so that work that is not waited for is missed. */
async function setUp() {
  const app = await createTestApp({ store: delayed });
  const [grace, eve] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
  return { app, ada: app.user, grace, eve };
}

describe('forgotten user', () => {
  it('is no sender, recipient or member in any invite; those of others stay', async () => {
    const { app, ada, grace, eve } = await setUp();
    const organization = `organization/${await makeOrganization(app, grace)}`;
    await shareWith(app, grace, organization, ada, 'write');
    const hers = `session/${await makeSession(app, ada)}`;
    const invites = app.services.store.collection(SHARING_INVITES);
    const invite = async (who: typeof ada, path: string, email: string): Promise<string> =>
      (await callAs(app, who, 'POST', toInvites(path), { email })).body._id;
    const theirs = `session/${await makeSession(app, grace)}`;
    const gone = [
      await invite(ada, organization, 'one@example.com'),
      await invite(ada, hers, eve.email),
      await invite(grace, theirs, ada.email),
    ];
    const kept = [
      await invite(grace, organization, 'two@example.com'),
      await invite(grace, theirs, eve.email),
      await invite(eve, `session/${await makeSession(app, eve)}`, 'three@example.com'),
    ];
    expect(await invites.count({ acceptedBy: ada.id })).toBe(1);

    expect(await forgetUser(app.services, { userId: ada.id })).toBe(true);

    const left = (await invites.find({})).map(({ id }) => id);
    expect(left.toSorted()).toEqual(kept.toSorted());
    expect(left).not.toEqual(expect.arrayContaining(gone));
    expect((await callAs(app, eve, 'GET', '/api/invites')).body.pagination.total).toBe(1);
  });

  it('leaves no link to an artifact in the session of another user', async () => {
    const { app, ada, grace } = await setUp();
    const session = await makeSession(app, grace);
    await shareWith(app, grace, `session/${session}`, ada, 'write');
    const body = { type: 'code', title: 'Loop', content: 'for (;;);', session_id: session };
    expect((await callAs(app, ada, 'POST', '/api/v1/artifacts', body)).status).toBe(201);
    await makeArtifact(app, ada);
    const sessions = app.services.store.collection(SESSIONS);
    expect((await sessions.get(session))?.artifactIds).toHaveLength(1);
    expect(await forgetUser(app.services, { userId: ada.id })).toBe(true);
    expect((await sessions.get(session))?.artifactIds ?? []).toEqual([]);
  });
});
