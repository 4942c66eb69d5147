import { USERS, type UserRecord } from '@questline/core';
import { SESSIONS } from '@questline/core/internal';
import { forgetUser } from '@questline/core/personal-data';
import { StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { makeSession } from '../support/owned-resources.ts';
import { callAs, shareWith, toInvites } from '../support/sharing.ts';
import { createBreakableStore } from '../support/store.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

/* The store fails at the first call of an act, at the second one, and so on: no act reports success for work that failed. */

interface People {
  readonly app: TestApp;
  readonly ada: UserRecord;
  readonly grace: UserRecord;
}

/** Prepares the act. @returns the act, which returns its status. */
type Act = (people: People) => Promise<() => Promise<number>>;

const invite = async ({ app, ada }: People, path: string, more: object = {}): Promise<string> =>
  (await callAs(app, ada, 'POST', toInvites(path), { email: 'grace@example.com', ...more })).body._id;

/** Ada's organization, with an administrator who has a key that it pays for and has invited another user. */
async function addOrganization({ app, ada, grace }: People): Promise<string> {
  const { body } = await callAs(app, ada, 'POST', '/api/organizations', { name: 'Engines' });
  await shareWith(app, ada, `organization/${body._id}`, grace, 'write');
  await app.issue({ userId: grace.id, organizationId: body._id });
  const offer = { email: 'new@example.com' };
  await callAs(app, grace, 'POST', `/api/organization/${body._id}/invites`, offer);
  return body._id;
}

const ACTS: Readonly<Record<string, Act>> = {
  'a member leaves an organization': async (people) => {
    const { app, grace } = people;
    const id = await addOrganization(people);
    return async () => (await callAs(app, grace, 'POST', `/api/organization/${id}/leave`)).status;
  },
  'a member is removed from an organization': async (people) => {
    const { app, ada, grace } = people;
    const path = `/api/organization/${await addOrganization(people)}/revokeSharing`;
    return async () => (await callAs(app, ada, 'POST', path, { userId: grace.id })).status;
  },
  'an organization is deleted': async (people) => {
    const { app, ada } = people;
    const id = await addOrganization(people);
    return async () => (await callAs(app, ada, 'DELETE', `/api/organizations/${id}`)).status;
  },
  'an organization is joined': async (people) => {
    const { app, ada, grace } = people;
    const { body } = await callAs(app, ada, 'POST', '/api/organizations', { name: 'Engines' });
    const id = await invite(people, `organization/${body._id}`);
    return async () => (await callAs(app, grace, 'POST', `/api/invites/${id}/accept`)).status;
  },
  'an expired invite is repeated': async (people) => {
    const { app, ada, grace } = people;
    const path = `session/${await makeSession(app, ada)}`;
    await invite(people, path, { expiresAt: new Date(app.clock.now() + 1).toISOString() });
    await app.clock.advance(1);
    const body = { email: grace.email };
    return async () => (await callAs(app, ada, 'POST', `/api/${path}/invites`, body)).status;
  },
  'an invite to a deleted session is listed': async (people) => {
    const { app, ada, grace } = people;
    const id = await makeSession(app, ada);
    await invite(people, `session/${id}`);
    await app.services.store.collection(SESSIONS).take(id);
    return async () => (await callAs(app, grace, 'GET', '/api/invites')).status;
  },
  'a user is disabled': async ({ app, ada, grace }) => {
    await app.services.store.collection(USERS).update(ada.id, { isAdmin: true });
    const path = `/api/users/${grace.id}/access`;
    return async () => (await callAs(app, ada, 'PUT', path, { disabled: true })).status;
  },
  'the last member of an organization is forgotten': async (people) => {
    const { app, ada, grace } = people;
    const id = await addOrganization(people);
    await callAs(app, grace, 'POST', `/api/organization/${id}/leave`);
    return () =>
      forgetUser(app.services, { userId: ada.id }).then(
        () => 200,
        () => 503,
      );
  },
};

describe('store that fails at any call', () => {
  it.each(Object.entries(ACTS))('is reported when %s', async (_, prepare) => {
    for (let calls = 0; ; calls += 1) {
      const breakable = createBreakableStore();
      const app = await createTestApp({ store: breakable.wrap });
      const act = await prepare({ app, ada: app.user, grace: await app.addUser('grace@example.com') });
      breakable.callsBeforeFailure = calls;
      breakable.failure = new StorageUnavailable('lost');
      const status = await act();
      await app.settle();
      if (breakable.callsBeforeFailure >= 0) {
        expect(status).toBeLessThan(300);
        break;
      }
      expect(status, `after ${calls} calls`).toBe(503);
    }
  });
});
