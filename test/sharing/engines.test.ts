import { COLLECTIONS, type UserRecord } from '@questline/core';
import { API_KEYS, ORGANIZATIONS, PROVIDER_KEYS, SESSIONS } from '@questline/core/internal';
import { createSqlStore, migrate } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../packages/sql/test/engines.ts';
import { makeOrganization, makeProviderKey, makeSession } from '../support/owned-resources.ts';
import { createTestApp, type TestApp } from '../support/test-app.ts';

const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];

async function onEngine(engine: Engine, work: (app: TestApp) => Promise<void>): Promise<void> {
  const open = await engine.open();
  try {
    await migrate(open.database, { collections: COLLECTIONS });
    const app = await createTestApp({ store: () => createSqlStore(open.database) });
    await work(app);
    await app.api.close();
  } finally {
    await open.close();
  }
}

async function call(
  app: TestApp,
  who: UserRecord,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const credential = await app.token(who);
  const answer = await app.ask(method, path, { credential, ...(body !== undefined && { body }) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** Tests the transactions of a database; in memory these changes are trivially atomic. */
describe.each(ENGINES.map((engine) => [engine.name, engine] as const))('sharing on %s', (_name, engine) => {
  it('keeps every parallel share and accepts an invite once', () =>
    onEngine(engine, async (app) => {
      const { user: ada } = app;
      const id = await makeSession(app, ada);
      const guests: UserRecord[] = [];
      const offers: unknown[] = [];
      for (let count = 0; count < 5; count += 1) {
        const guest = await app.addUser(`guest${count}@example.com`);
        const offer = await call(app, ada, 'POST', `/api/session/${id}/invites`, { email: guest.email });
        guests.push(guest);
        offers.push(offer.body._id);
      }
      const answers = await Promise.all(
        guests.flatMap((guest, at) => [
          call(app, guest, 'POST', `/api/invites/${offers[at]}/accept`),
          call(app, guest, 'POST', `/api/invites/${offers[at]}/accept`),
        ]),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array(5).fill(200),
        ...Array(5).fill(409),
      ]);
      const kept = await app.services.store.collection(SESSIONS).get(id);
      expect([...(kept?.readerIds ?? [])].sort()).toEqual(guests.map((guest) => guest.id).sort());
    }));

  it('gives parallel organizations of one name a slug each', () =>
    onEngine(engine, async (app) => {
      const create = () => call(app, app.user, 'POST', '/api/organizations', { name: 'Engines' });
      const answers = await Promise.all(Array.from({ length: 8 }, create));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
      expect(new Set(answers.map(({ body }) => body.slug)).size).toBe(8);
      // The first one is the default organization of its owner.
      const user = (await call(app, app.user, 'GET', `/api/users/${app.user.id}`)).body;
      expect(answers.map(({ body }) => body._id)).toContain(user.organizationId);
    }));

  it('leaves no active key to an administrator who creates keys while being removed', () =>
    onEngine(engine, async (app) => {
      const id = await makeOrganization(app, app.user);
      for (let round = 0; round < 8; round += 1) {
        const admin = await app.addUser(`admin${round}@example.com`);
        await app.services.store.collection(ORGANIZATIONS).update(id, { writerIds: [admin.id] });
        const create = () =>
          call(app, admin, 'POST', '/api/user-api-keys', {
            name: 'Last',
            preset: 'full',
            organizationId: id,
          });
        const remove = () =>
          call(app, app.user, 'POST', `/api/organization/${id}/revokeSharing`, { userId: admin.id });
        const [, , removed] = await Promise.all([create(), create(), remove(), create(), create()]);
        expect(removed.status).toBe(200);
        const left = { userId: admin.id, status: 'active' } as const;
        expect(await app.services.store.collection(API_KEYS).count(left)).toBe(0);
      }
    }));

  it('keeps one owner under parallel transfers to different members', () =>
    onEngine(engine, async (app) => {
      const { user: ada } = app;
      const members = [await app.addUser('grace@example.com'), await app.addUser('eve@example.com')];
      const id = await makeOrganization(app, ada);
      const readerIds = members.map((member) => member.id);
      await app.services.store.collection(ORGANIZATIONS).update(id, { readerIds });
      const answers = await Promise.all(
        readerIds.map((userId) => call(app, ada, 'POST', `/api/organizations/${id}/transfer`, { userId })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
      const kept = await app.services.store.collection(ORGANIZATIONS).get(id);
      const other = readerIds.filter((one) => one !== kept?.ownerId);
      expect([other.length, kept?.readerIds, kept?.writerIds]).toEqual([1, other, [ada.id]]);
    }));

  it('is ended only by the owner, for all users', () =>
    onEngine(engine, async (app) => {
      const { user: ada } = app;
      const grace = await app.addUser('grace@example.com');
      const path = `/api/organization/${await makeOrganization(app, ada)}`;
      expect((await call(app, grace, 'POST', `${path}/revokeSharing`)).status).toBe(404);
      const offer = await call(app, ada, 'POST', `${path}/invites`, {
        email: grace.email,
        permission: 'write',
      });
      await call(app, grace, 'POST', `/api/invites/${offer.body._id}/accept`);
      expect((await call(app, grace, 'GET', '/api/users')).body.pagination).toMatchObject({ total: 2 });
      expect((await call(app, grace, 'POST', `${path}/revokeSharing`)).status).toBe(403);
      expect((await call(app, ada, 'POST', `${path}/revokeSharing`)).status).toBe(200);
      expect((await call(app, grace, 'GET', path)).status).toBe(404);
    }));

  it('keeps one active provider key of a service under parallel activations', () =>
    onEngine(engine, async (app) => {
      const { user: ada } = app;
      const ids: string[] = [];
      for (let count = 0; count < 4; count += 1) ids.push(await makeProviderKey(app, ada));
      const answers = await Promise.all(
        ids.map((id) => call(app, ada, 'POST', `/api/api-keys/${id}/set-active`)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200));
      const active = await app.services.store.collection(PROVIDER_KEYS).count({ isActive: true });
      expect(active).toBe(1);
    }));
});
