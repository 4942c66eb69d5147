import { subscribe, type UserRecord } from '@questline/core';
import { API_KEYS, ORGANIZATIONS, SHARING_INVITES } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../packages/core/test/delayed.ts';
import { addOrganization } from '../support/people.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

/* Every call of the store takes effect some turns later, so that work that an answer does not wait for is missed. */

const create = async (app: TestApp, who: UserRecord, name: string, more: object = {}): Promise<string> =>
  (await callAs(app, who, 'POST', '/api/organizations', { name, ...more })).body._id;

const getDefault = async (app: TestApp, who: UserRecord): Promise<string | null> =>
  (await callAs(app, who, 'GET', `/api/users/${who.id}`)).body.organizationId;

async function setUp() {
  const app = await createTestApp({ store: delayed });
  const [grace, eve] = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
  return { app, ada: app.user, grace, eve };
}

describe('new organization', () => {
  it('has a subscription of its own, and becomes the default of an owner without one', async () => {
    const { app, ada, grace } = await setUp();
    const first = await create(app, ada, 'Engines', { description: 'We compute.' });
    await create(app, ada, 'Looms');
    expect(await getDefault(app, ada)).toBe(first);
    expect(await getDefault(app, grace)).toBeNull();
    const { subscriptions } = (await callAs(app, ada, 'GET', '/api/subscriptions/own')).body;
    expect(subscriptions).toMatchObject([
      { tier: 'free', status: 'trial', currentPeriodEnd: null },
      { tier: 'free', status: 'trial', currentPeriodEnd: null },
    ]);
    const { organizations } = (await callAs(app, ada, 'GET', '/api/organizations?search=Eng')).body;
    expect(organizations).toMatchObject([{ _id: first, description: 'We compute.' }]);
  });

  it.each([
    ['Engines', 'engines'],
    ['  Crème & Brûlée  ', 'creme-brulee'],
    ['Straße', 'strasse'],
    ['GROẞE', 'grosse'],
    ['ﬁne', 'fine'],
    ['...', 'organization'],
    ['工場', 'organization'],
    [`${'a'.repeat(49)} b`, 'a'.repeat(49)],
    ['a'.repeat(60), 'a'.repeat(50)],
  ])('named %j has the slug %j', async (name, slug) => {
    const app = await createTestApp();
    await create(app, app.user, 'Another one');
    const { body } = await callAs(app, app.user, 'POST', '/api/organizations', { name });
    expect(body.slug).toBe(slug);
    const again = await callAs(app, app.user, 'POST', '/api/organizations', { name });
    expect(again.body.slug).toMatch(new RegExp(`^${slug}-[a-z0-9_-]{6}$`));
  });
});

describe('organization whose slug cannot be made', () => {
  it('is not stored, and neither is its subscription', async () => {
    const app = await createTestApp({
      services: (services) => ({ ...services, ids: { ...services.ids, secret: () => 'abcdef' } }),
    });
    const answers = [];
    for (let count = 0; count < 3; count += 1)
      answers.push((await callAs(app, app.user, 'POST', '/api/organizations', { name: 'Engines' })).status);
    expect(answers).toEqual([201, 201, 500]);
    expect((await callAs(app, app.user, 'GET', '/api/organizations')).body.pagination.total).toBe(2);
    expect((await callAs(app, app.user, 'GET', '/api/subscriptions/own')).body.subscriptions).toHaveLength(2);
  });
});

describe('new member', () => {
  it('keeps the default organization; a first one becomes it', async () => {
    const { app, ada, grace } = await setUp();
    const [first, second] = [await create(app, ada, 'Engines'), await create(app, ada, 'Looms')];
    await shareWith(app, ada, `organization/${first}`, grace);
    expect(await getDefault(app, grace)).toBe(first);
    await shareWith(app, ada, `organization/${second}`, grace);
    expect(await getDefault(app, grace)).toBe(first);
    await callAs(app, grace, 'POST', `/api/organization/${second}/leave`);
    expect(await getDefault(app, grace)).toBe(first);
    await callAs(app, grace, 'POST', `/api/organization/${first}/leave`);
    expect(await getDefault(app, grace)).toBeNull();
  });
});

describe('member who leaves', () => {
  it.each(['leave', 'revokeSharing'])('loses a key that is in use at once: %s', async (act) => {
    const { app, ada, grace } = await setUp();
    const id = await create(app, ada, 'Engines');
    await shareWith(app, ada, `organization/${id}`, grace, 'write');
    const { key } = await app.issue({ userId: grace.id, organizationId: id });
    const use = async () => (await app.ask('GET', '/api/v1/me', { credential: key })).status;
    expect(await use()).toBe(200);
    const body = act === 'leave' ? {} : { userId: grace.id };
    expect((await callAs(app, grace, 'POST', `/api/organization/${id}/${act}`, body)).status).toBe(200);
    expect(await use()).toBe(401);
  });

  it('loses the keys that the organization pays, and no other key of anyone', async () => {
    const { app, ada, grace } = await setUp();
    const id = await create(app, ada, 'Engines');
    await shareWith(app, ada, `organization/${id}`, grace, 'write');
    const key = async (who: UserRecord, organizationId: string | null) =>
      (await app.issue({ userId: who.id, organizationId })).record.id;
    const [paid, revoked] = [await key(grace, id), await key(grace, id)];
    const others = [await key(grace, null), await key(ada, id)];
    await callAs(app, grace, 'POST', `/api/user-api-keys/${revoked}/revoke`, { reason: 'lost' });

    await callAs(app, grace, 'POST', `/api/organization/${id}/leave`);

    const read = async (one: string) => {
      const record = await app.services.store.collection(API_KEYS).get(one);
      return [record?.status, record?.revokedFor];
    };
    expect(await read(paid)).toEqual(['disabled', 'no longer a member of the organization']);
    expect(await read(revoked)).toEqual(['disabled', 'lost']);
    for (const other of others) expect(await read(other)).toEqual(['active', undefined]);
  });

  it('withdraws the pending invites that this user sent for it, and no other invite', async () => {
    const { app, ada, grace, eve } = await setUp();
    const [id, other] = [await create(app, ada, 'Engines'), await create(app, grace, 'Looms')];
    const invite = async (who: UserRecord, organization: string, email: string): Promise<string> =>
      (await callAs(app, who, 'POST', `/api/organization/${organization}/invites`, { email })).body._id;
    await shareWith(app, ada, `organization/${id}`, grace, 'write');
    const open = await invite(grace, id, 'one@example.com');
    const accepted = await invite(grace, id, eve.email);
    await callAs(app, eve, 'POST', `/api/invites/${accepted}/accept`);
    const kept = [await invite(ada, id, 'two@example.com'), await invite(grace, other, 'one@example.com')];

    await callAs(app, grace, 'POST', `/api/organization/${id}/leave`);

    const read = async (one: string) =>
      (await app.services.store.collection(SHARING_INVITES).get(one))?.status;
    expect(await read(open)).toBe('revoked');
    expect(await read(accepted)).toBe('accepted');
    for (const one of kept) expect(await read(one)).toBe('pending');
  });
});

describe('transferred organization', () => {
  it.each(['read', 'write'] as const)(
    'has each person in one role, after a share to %s',
    async (permission) => {
      const { app, ada, grace, eve } = await setUp();
      const id = await create(app, ada, 'Engines');
      await shareWith(app, ada, `organization/${id}`, eve, 'read');
      await shareWith(app, ada, `organization/${id}`, grace, permission);
      await callAs(app, ada, 'POST', `/api/organizations/${id}/transfer`, { userId: grace.id });
      expect(await app.services.store.collection(ORGANIZATIONS).get(id)).toMatchObject({
        ownerId: grace.id,
        readerIds: [eve.id],
        writerIds: [ada.id],
      });
      expect(await getDefault(app, ada)).toBe(id);
    },
  );
});

describe('organization with an owner in its lists', () => {
  it('has the former owner once after a transfer', async () => {
    const { app, ada, grace } = await setUp();
    const { id } = await addOrganization(app, { writerIds: [ada.id, grace.id] });
    await callAs(app, ada, 'POST', `/api/organizations/${id}/transfer`, { userId: grace.id });
    expect((await app.services.store.collection(ORGANIZATIONS).get(id))?.writerIds).toEqual([ada.id]);
  });
});

describe('subscription of an organization', () => {
  it('is replaced by the next one, and shown by the organization', async () => {
    const { app, ada } = await setUp();
    const id = await create(app, ada, 'Engines');
    const end = app.clock.now() + 1000;
    for (const status of ['active', 'past_due'] as const) {
      await subscribe(app.services, { organizationId: id }, { tier: 'pro', status, currentPeriodEnd: end });
      const { subscriptions } = (await callAs(app, ada, 'GET', '/api/subscriptions/own')).body;
      expect(subscriptions).toMatchObject([
        { tier: 'pro', status, currentPeriodEnd: new Date(end).toISOString() },
      ]);
      const { organizations } = (await callAs(app, ada, 'GET', '/api/organizations')).body;
      expect(organizations).toMatchObject([{ subscriptionTier: 'pro', subscriptionStatus: status }]);
    }
  });

  it('is stored for one that the host has made without, and for no unknown one', async () => {
    const { app, ada } = await setUp();
    const { id } = await addOrganization(app);
    const terms = { tier: 'basic', status: 'active', currentPeriodEnd: null } as const;
    await subscribe(app.services, { organizationId: id }, terms);
    expect(await subscribe(app.services, { organizationId: 'f'.repeat(24) }, terms)).toBeUndefined();
    const { subscriptions } = (await callAs(app, ada, 'GET', '/api/subscriptions/own')).body;
    expect(subscriptions).toMatchObject([terms]);
  });
});
