import type { UserRecord } from '@questline/core';
import { API_KEYS, ORGANIZATIONS } from '@questline/core/internal';
import type { Store } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { addOrganization } from '../support/people.ts';
import { callAs, shareWith } from '../support/sharing.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

interface Race {
  readonly app: TestApp;
  readonly organizationId: string;
  readonly admin: UserRecord;
  /** The next transaction begins after the removal of the administrator. */
  removeBeforeNext(): void;
}

async function setUp(): Promise<Race> {
  let before: (() => Promise<unknown>) | undefined;
  const late = (store: Store): Store => ({
    ...store,
    async transaction(work, options) {
      const first = before;
      before = undefined;
      await first?.();
      return store.transaction(work, options);
    },
  });
  const app = await createTestApp({ store: late });
  const { id: organizationId } = await addOrganization(app);
  const admin = await app.addUser('grace@example.com');
  await shareWith(app, app.user, `organization/${organizationId}`, admin, 'write');
  return {
    app,
    organizationId,
    admin,
    removeBeforeNext() {
      before = async () => {
        const path = `/api/organization/${organizationId}/revokeSharing` as const;
        expect((await callAs(app, app.user, 'POST', path, { userId: admin.id })).status).toBe(200);
      };
    },
  };
}

describe('an administrator of an organization who is removed meanwhile', () => {
  it.each([
    ['API key', '/api/user-api-keys', { name: 'Last', preset: 'full' }, 403],
    ['webhook', '/api/webhooks', { url: 'https://grace.example.com/' }, 404],
  ] as const)('creates no %s', async (_title, path, body, refused) => {
    const { app, organizationId, admin, removeBeforeNext } = await setUp();
    const create = () => callAs(app, admin, 'POST', path, { ...body, organizationId });
    expect((await create()).status).toBe(201);
    removeBeforeNext();
    expect((await create()).status).toBe(refused);
    const { store } = app.services;
    const { writerIds } = (await store.collection(ORGANIZATIONS).get(organizationId)) ?? {};
    expect(writerIds).toEqual([]);
    expect(await store.collection(API_KEYS).find({ organizationId, status: 'active' })).toEqual([]);
    const webhooks = await callAs(app, app.user, 'GET', `/api/webhooks?organizationId=${organizationId}`);
    expect(webhooks.body).toMatchObject({ pagination: { total: path === '/api/webhooks' ? 1 : 0 } });
  });
});
