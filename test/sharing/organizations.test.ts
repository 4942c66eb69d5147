import { API_KEYS, LAKES, SUBSCRIPTIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { makeOrganization, makeProject } from '../support/owned-resources.ts';
import { callAs, readList, shareWith } from '../support/sharing.ts';
import { createTestApp } from '../support/test-app.ts';

async function setUp() {
  const app = await createTestApp();
  const grace = await app.addUser('grace@example.com');
  const id = await makeOrganization(app, app.user);
  await shareWith(app, app.user, `organization/${id}`, grace, 'write');
  return { app, ada: app.user, grace, id };
}

const billed = (organizationId: string) => ({ name: 'CI', scopes: ['me:read'], organizationId });

describe('deleted organization', () => {
  it('leaves no member, key, invite or subscription behind, and its lakes to their owners', async () => {
    const { app, ada, grace, id } = await setUp();
    const { store, adminSettings } = app.services;
    await adminSettings.set('EnableDataLakes', true);
    const { key } = (await callAs(app, grace, 'POST', '/api/user-api-keys', billed(id))).body;
    const lake = await callAs(app, grace, 'POST', '/api/v1/data-lakes', { name: 'L', organization_id: id });
    const offer = { email: 'new@example.com' };
    await callAs(app, ada, 'POST', `/api/organization/${id}/invites`, offer);
    expect((await callAs(app, ada, 'DELETE', `/api/organizations/${id}`)).status).toBe(204);
    for (const who of [ada, grace]) {
      expect((await callAs(app, who, 'GET', `/api/organization/${id}`)).status).toBe(404);
      expect((await callAs(app, who, 'GET', `/api/users/${who.id}`)).body.organizationId).toBeNull();
    }
    expect((await app.ask('GET', '/api/v1/me', { credential: key })).status).toBe(401);
    expect(await store.collection(API_KEYS).count({ organizationId: id, status: 'active' })).toBe(0);
    const kept = await callAs(app, grace, 'GET', `/api/v1/data-lakes/${lake.body.id}`);
    expect(kept).toMatchObject({ status: 200, body: { organization_id: null } });
    expect((await callAs(app, ada, 'GET', `/api/v1/data-lakes/${lake.body.id}`)).status).toBe(404);
    expect(await store.collection(LAKES).count({ organizationId: id })).toBe(0);
    expect(await store.collection(SUBSCRIPTIONS).count({ organizationId: id })).toBe(0);
    const late = await app.addUser('new@example.com');
    expect((await callAs(app, late, 'GET', '/api/invites')).body.invites).toEqual([]);
  });

  it('is kept while it has credit, debt, a reservation or an active subscription', async () => {
    const { app, ada, id } = await setUp();
    const account = `organization:${id}`;
    const tryIt = async () => {
      const { status, body } = await callAs(app, ada, 'DELETE', `/api/organizations/${id}`);
      return status === 204 ? status : body.error.message;
    };
    const { ledger, services } = app;
    await services.store.collection(SUBSCRIPTIONS).insert({
      id: services.ids.next(),
      organizationId: id,
      tier: 'pro',
      status: 'active',
      currentPeriodEnd: null,
      createdAt: 0,
    });
    expect(await tryIt()).toBe('The organization has an active subscription. Cancel it first.');
    const [subscription] = await services.store.collection(SUBSCRIPTIONS).find({ organizationId: id });
    await services.store.collection(SUBSCRIPTIONS).update(subscription?.id ?? '', { status: 'cancelled' });
    await ledger.grant({ account, amount: 2_000_000, key: 'k', reason: 'start' });
    expect(await tryIt()).toContain('The organization has 2 credits.');
    const details = { operation: 'test' };
    const expiresAt = app.clock.now() + 60_000;
    const held = await ledger.hold({ account, amount: 2_000_000, key: 'h', expiresAt, details });
    expect(await tryIt()).toContain('pays for calls that still run');
    if (held.outcome !== 'held') throw new Error('expected a hold');
    await ledger.settle(held.hold, 3_000_000);
    expect(await tryIt()).toContain('The organization has -1 credits. Ask the operator to settle them');
    await ledger.grant({ account, amount: 1_000_000, key: 'k2', reason: 'settled' });
    expect(await tryIt()).toBe(204);
    // The history is kept.
    expect(await ledger.entries(account, { limit: 10 })).toHaveLength(3);
  });
});

interface Rule {
  readonly action: string;
  readonly subject: string;
  readonly conditions?: Readonly<Record<string, unknown>> | undefined;
}

/** Evaluates the rules as a client does. */
function can(rules: readonly Rule[], action: string, kind: string, record: Record<string, unknown>): boolean {
  return rules.some(
    (rule) =>
      rule.subject === kind &&
      (rule.action === action || rule.action === 'manage') &&
      Object.entries(rule.conditions ?? {}).every(([field, value]) => record[field] === value),
  );
}

describe('rules of identify', () => {
  it('match the records that the API returns', async () => {
    const { app, ada, grace } = await setUp();
    const id = await makeProject(app, ada);
    await shareWith(app, ada, `project/${id}`, grace, 'write');
    const rulesOf = async (who: typeof ada): Promise<readonly Rule[]> =>
      (await callAs(app, who, 'GET', '/api/identify')).body.permissions;
    const list = async (who: typeof ada, path: string, field: string) =>
      (await readList(app, who, path, field))[0] as Record<string, unknown>;
    const [hers, others] = [await rulesOf(ada), await rulesOf(grace)];
    const project = await list(ada, '/api/v1/projects', 'data');
    const shared = await list(grace, '/api/v1/projects?shared=true', 'data');
    expect(can(hers, 'delete', 'Project', project)).toBe(true);
    expect(can(others, 'update', 'Project', shared)).toBe(true);
    expect(can(others, 'delete', 'Project', shared)).toBe(false);
    const organization = await list(grace, '/api/organizations', 'organizations');
    expect(can(hers, 'delete', 'Organization', organization)).toBe(true);
    expect(can(others, 'delete', 'Organization', organization)).toBe(false);
    const self = (await callAs(app, ada, 'GET', `/api/users/${ada.id}`)).body;
    expect(can(hers, 'update', 'User', self)).toBe(true);
    expect(can(others, 'update', 'User', self)).toBe(false);
  });
});

describe('transfer of an organization', () => {
  it('gives a member the rights of the owner, who stays an administrator of it', async () => {
    const app = await createTestApp();
    const ada = app.user;
    const grace = await app.addUser('grace@example.com');
    const id = await makeOrganization(app, ada);
    await shareWith(app, ada, `organization/${id}`, grace, 'read');
    const path = `/api/organizations/${id}` as const;
    const transfer = (to: string) => callAs(app, ada, 'POST', `${path}/transfer`, { userId: to });

    expect((await transfer(grace.id)).body).toMatchObject({ ownerId: grace.id, memberCount: 2 });

    expect((await transfer(ada.id)).status).toBe(403);
    expect((await callAs(app, ada, 'DELETE', path)).status).toBe(403);
    expect((await callAs(app, ada, 'PATCH', path, { name: 'Engines' })).status).toBe(200);
    expect((await callAs(app, grace, 'DELETE', path)).status).toBe(204);
  });
});
