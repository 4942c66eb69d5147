import { COLLECTIONS, USERS } from '@questline/core';
import { ORGANIZATIONS, SESSIONS } from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import {
  createShardDirectory,
  createSqlPorts,
  SHARD_COLLECTIONS,
  type SqlDatabase,
  shard,
} from '@questline/sql';
import { describe, expect, it } from 'vitest';
import { SQLITE_MEMORY } from '../../packages/sql/test/engines.ts';
import { shareDatabase } from '../../packages/sql/test/shared.ts';
import { type ChatApp, createChatApp } from '../support/chat.ts';
import { makeSession } from '../support/owned-resources.ts';
import { addOrganization } from '../support/people.ts';
import { callAs } from '../support/sharing.ts';
import { createTestApp, type TestAppOptions } from '../support/test-app.ts';

const collections = [...COLLECTIONS, ...SHARD_COLLECTIONS];

/** A database that can be made unavailable. */
function createOutage(database: SqlDatabase) {
  const state = { isDown: false };
  const pass = <T>(perform: () => Promise<T>): Promise<T> =>
    state.isDown ? Promise.reject(new StorageUnavailable('down')) : perform();
  const guarded = {
    ...database,
    run: (...args: Parameters<SqlDatabase['run']>) => pass(() => database.run(...args)),
    transaction: ((work, options) =>
      pass(() => database.transaction(work, options))) as SqlDatabase['transaction'],
    ...(database.dialect === 'sqlite' && {
      immediate: ((work, options) =>
        pass(() => database.immediate(work, options))) as typeof database.immediate,
    }),
  } as SqlDatabase;
  return { state, database: guarded };
}

describe('a service on several databases', () => {
  const [first, second, third] = [
    shareDatabase(SQLITE_MEMORY, collections),
    shareDatabase(SQLITE_MEMORY, collections),
    shareDatabase(SQLITE_MEMORY, collections),
  ];

  /** Ends the pending work of the app's users. */
  const work = async (app: ChatApp): Promise<void> => {
    for (let step = 0; step < 10; step += 1) {
      await app.clock.advance(5000);
      await app.settle();
    }
  };

  it('goes on for the owners of the other shards while one is down, and then for its owners', async () => {
    const [home, a] = [await first.fresh(), await second.fresh()];
    const outage = createOutage(await third.fresh());
    const ports: NonNullable<TestAppOptions['ports']> = (given) => {
      const opened = createSqlPorts(home, given);
      const shards = { a: createSqlPorts(a, given), b: createSqlPorts(outage.database, given) };
      let placed = 0;
      const directory = createShardDirectory({
        store: opened.store,
        shards: Object.keys(shards),
        choose: () => (placed++ === 0 ? 'a' : 'b'),
      });
      return { ...shard({ home: opened, shards, directory }), vectors: opened.vectors };
    };
    const app = await createChatApp({ ports, started: false });
    const eve = await app.addUser('eve@example.com');
    await app.ledger.grant({ account: `user:${eve.id}`, amount: 1e9, key: 'start', reason: 'start' });
    const key = (await app.issue({ userId: eve.id, scopes: ['ai:chat', 'notebooks:read'] })).key;
    const waiting = await app.chat({ message: 'Hi' }, { credential: key });
    expect(waiting.status).toBe(200);

    outage.state.isDown = true;
    await app.api.start();
    const own = await app.chat({ message: 'Hi' });
    expect(own.status).toBe(200);
    await work(app);
    expect(await app.poll(own.body.id)).toMatchObject({ status: 'done' });
    const refused = await app.chat({ message: 'Hi' }, { credential: key });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    const shared = await callAs(app, app.user, 'GET', '/api/v1/projects?shared=true');
    expect(shared.status).toBe(503);

    outage.state.isDown = false;
    await work(app);
    const path = `/api/v1/quests/${waiting.body.id}`;
    expect((await app.json('GET', path, { credential: key })).body).toMatchObject({ status: 'done' });
    expect((await app.chat({ message: 'Hi' }, { credential: key })).status).toBe(200);
    await work(app);
    for (const id of [app.user.id, eve.id]) {
      expect((await app.ledger.balance(`user:${id}`)).held).toBe(0);
    }
    await app.api.close();
  });

  it('begins with an existing database, which becomes the home database and the first shard', async () => {
    const [database, added] = [await first.fresh(), await second.fresh()];
    const app = await createTestApp({ ports: (given) => createSqlPorts(database, given) });
    const sessionId = await makeSession(app, app.user);
    const organization = await addOrganization(app);
    const given = { clock: app.clock, ids: app.services.ids };
    const home = createSqlPorts(database, given);
    const shards = { first: home, second: createSqlPorts(added, given) };
    const before = createShardDirectory({ store: home.store, shards: ['first'] });
    for (const collection of [USERS, ORGANIZATIONS] as const) {
      for (const { id } of await home.store.collection(collection as typeof USERS).find({})) {
        expect(await before.place(id)).toBe('first');
      }
    }

    const directory = createShardDirectory({
      store: home.store,
      shards: ['first', 'second'],
      choose: () => 'second',
    });
    const ports = shard({ home, shards, directory });
    expect((await ports.ledger.balance(app.account)).posted).toBe(
      (await app.ledger.balance(app.account)).posted,
    );
    expect(await ports.store.collection(SESSIONS).get(sessionId)).toMatchObject({ name: 'Notes' });
    expect(await directory.find(organization.id)).toBe('first');
    const record = { id: given.ids.next(), name: 'New', firstCreated: 0, lastUpdated: 0 };
    expect(await ports.store.collection(SESSIONS).insert({ ...record, ownerId: app.user.id })).toBe(true);
    const stranger = { ...record, id: given.ids.next(), ownerId: given.ids.next() };
    expect(await ports.store.collection(SESSIONS).insert(stranger)).toBe(true);
    const count = (store: typeof home.store) => store.collection(SESSIONS).count({});
    expect([await count(home.store), await count(shards.second.store)]).toEqual([2, 1]);
    expect(await ports.store.collection(SESSIONS).count({})).toBe(3);
    await app.api.close();
  });
});
