import { subscribe, USERS, type UserRecord } from '@questline/core';
import { API_KEYS, LAKES, ORGANIZATIONS, SHARING_INVITES, SUBSCRIPTIONS } from '@questline/core/internal';
import { forgetUser } from '@questline/core/personal-data';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../packages/core/test/delayed.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

/* Every call of the store takes effect some turns later, so that work that an answer does not wait for is missed. */

/** Two organizations of Ada with a member each, a key, a lake, an invite and a subscription. */
async function setUp() {
  const app = await createTestApp({ store: delayed });
  const { services, user: ada } = app;
  await services.adminSettings.set('EnableDataLakes', true);
  const [grace, eve] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
  const add = async (name: string, member: UserRecord) => {
    const id: string = (await callAs(app, ada, 'POST', '/api/organizations', { name })).body._id;
    await shareWith(app, ada, `organization/${id}`, member, 'write');
    const { key, record } = await app.issue({ userId: member.id, organizationId: id });
    const lake: string = (
      await callAs(app, member, 'POST', '/api/v1/data-lakes', { name, organization_id: id })
    ).body.id;
    const email = `${name}@example.com`;
    const invite: string = (await callAs(app, ada, 'POST', `/api/organization/${id}/invites`, { email })).body
      ._id;
    return { id, member, key, keyId: record.id, lake, invite };
  };
  const kept = await add('kept', eve);
  const terms = { tier: 'pro', status: 'active', currentPeriodEnd: null } as const;
  await subscribe(services, { organizationId: kept.id }, terms);
  const ended = await add('ended', grace);
  return { app, ada, grace, eve, kept, ended };
}

type Made = Awaited<ReturnType<typeof setUp>>['kept'];

/** Reads what is left of an organization. */
async function readParts({ services: { store } }: TestApp, { id, member, keyId, lake, invite }: Made) {
  const key = await store.collection(API_KEYS).get(keyId);
  return {
    organization: (await store.collection(ORGANIZATIONS).get(id)) !== undefined,
    key: key?.status,
    revokedFor: key?.revokedFor,
    lake: (await store.collection(LAKES).get(lake))?.organizationId,
    invite: (await store.collection(SHARING_INVITES).get(invite))?.status,
    subscriptions: await store.collection(SUBSCRIPTIONS).count({ organizationId: id }),
    isDefault: (await store.collection(USERS).get(member.id))?.organizationId === id,
  };
}

const WHOLE = {
  organization: true,
  key: 'active',
  revokedFor: undefined,
  invite: 'pending',
  subscriptions: 1,
  isDefault: true,
};
const ENDED = {
  organization: false,
  key: 'disabled',
  revokedFor: 'the organization was deleted',
  lake: undefined,
  invite: undefined,
  subscriptions: 0,
  isDefault: false,
};

describe('deleted organization', () => {
  it('takes along what belongs to it, at once, and nothing of another organization', async () => {
    const { app, ada, grace, eve, kept, ended } = await setUp();
    // The host gave a key to a user who is no member; the member revoked one.
    const outside = await app.issue({ userId: eve.id, organizationId: ended.id });
    const { id: lost } = (await app.issue({ userId: grace.id, organizationId: ended.id })).record;
    await callAs(app, grace, 'POST', `/api/user-api-keys/${lost}/revoke`, { reason: 'lost' });
    const personal = await app.issue({ userId: grace.id });
    const tries = async (): Promise<number[]> => {
      const statuses = [];
      for (const { key } of [ended, outside, kept, personal])
        statuses.push((await app.ask('GET', '/api/v1/me', { credential: key })).status);
      return statuses;
    };
    expect(await tries()).toEqual([200, 200, 200, 200]);

    expect((await callAs(app, ada, 'DELETE', `/api/organizations/${ended.id}`)).status).toBe(204);

    expect(await readParts(app, ended)).toEqual(ENDED);
    expect(await readParts(app, kept)).toEqual({ ...WHOLE, lake: kept.id });
    expect(await tries()).toEqual([401, 401, 200, 200]);
    expect((await app.services.store.collection(API_KEYS).get(lost))?.revokedFor).toBe('lost');
  });

  it('is no default organization of any of more than a thousand members', async () => {
    const app = await createTestApp();
    const { body } = await callAs(app, app.user, 'POST', '/api/organizations', { name: 'Engines' });
    const users = app.services.store.collection(USERS);
    for (let count = 0; count < 1001; count += 1) {
      const id = app.services.ids.next();
      await users.insert({ ...app.user, id, email: `${count}@example.com`, organizationId: body._id });
    }
    expect((await callAs(app, app.user, 'DELETE', `/api/organizations/${body._id}`)).status).toBe(204);
    expect(await users.count({ organizationId: body._id })).toBe(0);
  });

  it('needs a balance of exactly 0', async () => {
    const app = await createTestApp();
    const { body } = await callAs(app, app.user, 'POST', '/api/organizations', { name: 'Engines' });
    await app.ledger.grant({ account: `organization:${body._id}`, amount: 1, key: 'k', reason: 'start' });
    const refused = await callAs(app, app.user, 'DELETE', `/api/organizations/${body._id}`);
    expect(refused.body.error.message).toContain('has 0.000001 credits. Spend them');
  });
});

describe('organization of a forgotten user', () => {
  it('passes to an administrator of it with all that belongs to it', async () => {
    const { app, ada, grace, eve, ended: passed } = await setUp();
    await shareWith(app, ada, `organization/${passed.id}`, eve, 'read');
    expect(await forgetUser(app.services, { userId: ada.id })).toBe(true);
    expect(await app.services.store.collection(ORGANIZATIONS).get(passed.id)).toMatchObject({
      ownerId: grace.id,
      readerIds: [eve.id],
      writerIds: [],
    });
    // The invite was of the forgotten user.
    expect(await readParts(app, passed)).toEqual({ ...WHOLE, invite: undefined, lake: passed.id });
  });

  it('ends without members, like a deleted one', async () => {
    const { app, ada, grace, ended, kept } = await setUp();
    await app.services.store.collection(ORGANIZATIONS).update(ended.id, { writerIds: [] });
    expect(await forgetUser(app.services, { userId: ada.id })).toBe(true);
    expect(await readParts(app, ended)).toEqual(ENDED);
    expect(await readParts(app, kept)).toEqual({ ...WHOLE, invite: undefined, lake: kept.id });
    expect((await callAs(app, grace, 'GET', '/api/organizations')).body.organizations).toEqual([]);
  });

  it('stays with another owner when a member is forgotten', async () => {
    const { app, ada, grace, ended } = await setUp();
    expect(await forgetUser(app.services, { userId: grace.id })).toBe(true);
    expect(await app.services.store.collection(ORGANIZATIONS).get(ended.id)).toMatchObject({
      ownerId: ada.id,
      readerIds: [],
      writerIds: [],
    });
  });
});
