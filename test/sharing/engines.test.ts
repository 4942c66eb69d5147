import { COLLECTIONS, PROVIDER_KEYS, SESSIONS, type UserRecord } from '@questline/core';
import { createSqlStore, migrate } from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { type Engine, POSTGRES, POSTGRES_URL, SQLITE_FILE } from '../../packages/sql/test/engines.ts';
import { makeOrganization, makeProviderKey, makeSession } from '../support/possessions.ts';
import { createWorld, type World } from '../support/world.ts';

const ENGINES: readonly Engine[] = [SQLITE_FILE, ...(POSTGRES_URL === undefined ? [] : [POSTGRES])];

async function onEngine(engine: Engine, work: (world: World) => Promise<void>): Promise<void> {
  const open = await engine.open();
  try {
    await migrate(open.database, { collections: COLLECTIONS });
    const world = await createWorld({ store: () => createSqlStore(open.database) });
    await work(world);
    await world.api.close();
  } finally {
    await open.close();
  }
}

async function call(
  world: World,
  who: UserRecord,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const credential = await world.token(who);
  const answer = await world.ask(method, path, { credential, ...(body !== undefined && { body }) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

/** What memory does at once, a database does in transactions that meet. */
describe.each(ENGINES.map((engine) => [engine.name, engine] as const))('on %s', (_name, engine) => {
  it('sharing with many at once loses nobody, and an invite is taken once', () =>
    onEngine(engine, async (world) => {
      const { user: ada } = world;
      const id = await makeSession(world, ada);
      const guests: UserRecord[] = [];
      const offers: unknown[] = [];
      for (let count = 0; count < 5; count += 1) {
        const guest = await world.addUser(`guest${count}@example.com`);
        const offer = await call(world, ada, 'POST', `/api/session/${id}/invites`, { email: guest.email });
        guests.push(guest);
        offers.push(offer.body._id);
      }
      const answers = await Promise.all(
        guests.flatMap((guest, at) => [
          call(world, guest, 'POST', `/api/invites/${offers[at]}/accept`),
          call(world, guest, 'POST', `/api/invites/${offers[at]}/accept`),
        ]),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array(5).fill(200),
        ...Array(5).fill(409),
      ]);
      const kept = await world.services.store.collection(SESSIONS).get(id);
      expect([...(kept?.readerIds ?? [])].sort()).toEqual(guests.map((guest) => guest.id).sort());
    }));

  it('only the owner ends it, and it ends for everybody', () =>
    onEngine(engine, async (world) => {
      const { user: ada } = world;
      const grace = await world.addUser('grace@example.com');
      const path = `/api/organization/${await makeOrganization(world, ada)}`;
      expect((await call(world, grace, 'POST', `${path}/revokeSharing`)).status).toBe(404);
      const offer = await call(world, ada, 'POST', `${path}/invites`, {
        email: grace.email,
        permission: 'write',
      });
      await call(world, grace, 'POST', `/api/invites/${offer.body._id}/accept`);
      expect((await call(world, grace, 'GET', '/api/users')).body.pagination).toMatchObject({ total: 2 });
      expect((await call(world, grace, 'POST', `${path}/revokeSharing`)).status).toBe(403);
      expect((await call(world, ada, 'POST', `${path}/revokeSharing`)).status).toBe(200);
      expect((await call(world, grace, 'GET', path)).status).toBe(404);
    }));

  it('of the provider keys of a service one is active, however many are set at once', () =>
    onEngine(engine, async (world) => {
      const { user: ada } = world;
      const ids: string[] = [];
      for (let count = 0; count < 4; count += 1) ids.push(await makeProviderKey(world, ada));
      const answers = await Promise.all(
        ids.map((id) => call(world, ada, 'POST', `/api/api-keys/${id}/set-active`)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(200));
      const active = await world.services.store.collection(PROVIDER_KEYS).count({ isActive: true });
      expect(active).toBe(1);
    }));
});
