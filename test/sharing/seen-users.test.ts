import { USERS, type UserRecord } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

/** Root administers the workspace. Ada's organization has Grace as a member; Eve has one of her own. */
async function setUp() {
  const app = await createTestApp();
  const { store } = app.services;
  const users = store.collection(USERS);
  const root = app.user;
  await users.update(root.id, { isAdmin: true });
  const [ada, grace, eve] = [
    await app.addUser('countess@example.com'),
    await app.addUser('grace@example.com'),
    await app.addUser('eve@example.org'),
  ];
  const { id } = await addOrganization(app, { ownerId: ada.id, readerIds: [grace.id] });
  const other = await addOrganization(app, { ownerId: eve.id, readerIds: [grace.id] });
  const see = async (who: UserRecord, whom: UserRecord) =>
    (await callAs(app, who, 'GET', `/api/users/${whom.id}`)).body;
  const list = async (who: UserRecord, query: string): Promise<readonly string[]> => {
    const { body } = await callAs(app, who, 'GET', `/api/users?order=asc&${query}`);
    return body.users.map((user: { username: string }) => user.username);
  };
  return { app, users, root, ada, grace, eve, id, other: other.id, see, list };
}

describe('user', () => {
  it('is shown to other members without address, settings and state, and to administrators with them', async () => {
    const { users, root, ada, grace, id, see } = await setUp();
    await users.update(grace.id, { organizationId: id, preferences: { theme: 'dark' } });
    const seen = {
      _id: grace.id,
      username: 'grace',
      firstName: null,
      lastName: null,
      organizationId: id,
      isAdmin: false,
      preferences: {},
    };
    const whole = { ...seen, email: grace.email, preferences: { theme: 'dark', language: 'en' } };
    expect(await see(ada, grace)).toEqual(seen);
    expect(await see(grace, grace)).toEqual(whole);
    expect(await see(root, grace)).toEqual(whole);
    await users.update(grace.id, { disabled: true });
    expect(await see(ada, grace)).toEqual(seen);
    expect(await see(root, grace)).toEqual({ ...whole, disabled: true });
  });

  it('is shown with a default organization only to its members', async () => {
    const { users, root, ada, grace, other, see } = await setUp();
    expect((await see(ada, grace)).organizationId).toBeNull();
    await users.update(grace.id, { organizationId: other });
    expect((await see(ada, grace)).organizationId).toBeNull();
    for (const who of [grace, root]) expect((await see(who, grace)).organizationId).toBe(other);
  });
});

describe('list of users', () => {
  it('has the members of an organization for its members and for administrators', async () => {
    const { root, ada, grace, eve, id, other, list } = await setUp();
    const members = ['countess', 'grace'];
    for (const who of [root, ada, grace]) expect(await list(who, `organizationId=${id}`)).toEqual(members);
    expect(await list(eve, `organizationId=${id}`)).toEqual([]);
    expect(await list(ada, `organizationId=${other}`)).toEqual([]);
    for (const who of [root, ada]) expect(await list(who, 'organizationId=none')).toEqual([]);
  });

  it('is searched by name, and by address for administrators only', async () => {
    const { root, ada, grace, list } = await setUp();
    for (const who of [root, ada, grace]) expect(await list(who, 'search=count')).toEqual(['countess']);
    expect(await list(root, 'search=example.org')).toEqual(['eve']);
    expect(await list(ada, 'search=example')).toEqual([]);
    expect(await list(root, 'role=admin')).toEqual(['ada']);
    expect(await list(root, 'role=user')).toEqual(['countess', 'grace', 'eve']);
  });
});

describe('user whose role changes', () => {
  it('stays signed in, and has the new role at once', async () => {
    const { app, root, grace, eve } = await setUp();
    const ask = <const Method extends string, const Path extends string>(
      method: Method,
      path: Path,
      body?: object,
    ) => callAs(app, grace, method, path, body);
    expect((await ask('GET', '/api/audit')).status).toBe(403);
    const change = { isAdmin: true };
    expect((await callAs(app, root, 'PUT', `/api/users/${grace.id}/access`, change)).body.isAdmin).toBe(true);
    expect((await ask('GET', '/api/audit')).status).toBe(200);
    expect((await ask('PUT', `/api/users/${eve.id}/access`, { disabled: true })).body.disabled).toBe(true);
    expect((await callAs(app, eve, 'GET', '/api/identify')).status).toBe(401);
  });
});
