import {
  createApi,
  createServices,
  createUser,
  type Incident,
  issueApiKey,
  revokeApiKey,
  rotateApiKey,
  toFetchHandler,
  USERS,
} from '@questline/core';
import {
  createMemoryLedger,
  createMemoryLimiter,
  createMemoryPublisher,
  createMemoryStore,
} from '@questline/core/memory';
import type { Publisher, Store } from '@questline/core/ports';
import { createFakeClock, createFakeIds, type FakeClock } from '@questline/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { NOW } from '../support/test-app.ts';

/** One of several processes on one store. The clock stands still, so that no cache entry expires. */
function startProcess(store: Store, clock: FakeClock, publisher?: Publisher) {
  const incidents: Incident[] = [];
  const services = createServices(
    {
      store,
      clock,
      ledger: createMemoryLedger({ clock }),
      limiter: createMemoryLimiter(),
      ids: createFakeIds(),
      models: [],
      ...(publisher && { publisher }),
    },
    { jwtSecret: 'a'.repeat(64), onError: (incident) => incidents.push(incident) },
  );
  const api = createApi(services);
  const handle = toFetchHandler(api);
  return {
    services,
    api,
    incidents,
    async ask(credential: string): Promise<number | undefined> {
      const headers = { Authorization: `Bearer ${credential}` };
      return (await handle(new Request('http://localhost/api/v1/me', { headers })))?.status;
    },
  };
}

describe('credential revoked in one process', () => {
  let clock: FakeClock;
  let store: Store;
  beforeEach(() => {
    clock = createFakeClock(NOW);
    store = createMemoryStore();
  });

  const addUserWithKey = async (process: ReturnType<typeof startProcess>) => {
    const user = await createUser(process.services, { email: 'ada@example.com', username: 'ada' });
    if (user === undefined) throw new Error('the store is not empty');
    const { key, record } = await issueApiKey(process.services, {
      userId: user.id,
      name: 'test',
      scopes: ['me:read'],
    });
    const token = await process.services.tokens.sign({ id: user.id, tokenVersion: 0, typ: 'access' });
    return { user, key, keyId: record.id, token };
  };

  it('is rejected by all processes at once with a publisher', async () => {
    const publisher = createMemoryPublisher();
    const here = startProcess(store, clock, publisher);
    const there = startProcess(store, clock, publisher);
    const { user, key, keyId, token } = await addUserWithKey(here);
    for (const process of [here, there]) {
      expect(await process.ask(key)).toBe(200);
      expect(await process.ask(token)).toBe(200);
    }

    await revokeApiKey(here.services, user.id, keyId);
    expect([await here.ask(key), await there.ask(key)]).toEqual([401, 401]);

    await store.collection(USERS).add(user.id, { tokenVersion: 1 });
    here.services.authenticator.forgetUser(user.id);
    expect([await here.ask(token), await there.ask(token)]).toEqual([401, 401]);
  });

  it('is accepted by others for at most 1.5 seconds without a publisher', async () => {
    const here = startProcess(store, clock);
    const there = startProcess(store, clock);
    const { user, key, keyId } = await addUserWithKey(here);
    expect([await here.ask(key), await there.ask(key)]).toEqual([200, 200]);

    await revokeApiKey(here.services, user.id, keyId);
    expect([await here.ask(key), await there.ask(key)]).toEqual([401, 200]);
    await clock.advance(1500);
    expect(await there.ask(key)).toBe(401);
  });

  it('of a banned user ends as fast, however late its first use was', async () => {
    const here = startProcess(store, clock);
    const there = startProcess(store, clock);
    const { user, key, token } = await addUserWithKey(here);
    expect(await there.ask(token)).toBe(200);
    await store.collection(USERS).update(user.id, { disabled: true });
    await clock.advance(1400);
    expect(await there.ask(key)).toBe(200);
    await clock.advance(100);
    expect(await there.ask(key)).toBe(401);
  });

  it('is not cached again by a running lookup', async () => {
    const slow = holdReads(store);
    const process = startProcess(slow.store, clock);
    const { user, key, keyId } = await addUserWithKey(process);
    slow.hold();
    const first = process.ask(key);
    await slow.reached;
    await revokeApiKey({ ...process.services, store }, user.id, keyId);
    slow.release();
    await first;
    expect(await process.ask(key)).toBe(401);
  });

  it('is rejected at once by the process that revokes it, also after a rotation elsewhere without a message', async () => {
    const here = startProcess(store, clock);
    const there = startProcess(store, clock);
    const { user, key, keyId } = await addUserWithKey(here);
    expect(await there.ask(key)).toBe(200);
    const rotated = await rotateApiKey(here.services, user.id, keyId);
    expect(await there.ask(rotated?.key ?? '')).toBe(200);
    // The old secret is looked up again and is unknown.
    await clock.advance(1500);
    expect(await there.ask(rotated?.key ?? '')).toBe(200);
    expect(await there.ask(key)).toBe(401);

    await revokeApiKey(there.services, user.id, keyId);
    expect(await there.ask(rotated?.key ?? '')).toBe(401);
  });

  it('is independent of other messages on the topic', async () => {
    const publisher = createMemoryPublisher();
    const process = startProcess(store, clock, publisher);
    const { key } = await addUserWithKey(process);
    await process.ask(key);
    for (const message of ['', 'null', '{"keyId":7}', '[]', '{"keyId":"unknown"}'])
      await publisher.publish('revocations', message);
    expect(await process.ask(key)).toBe(200);
    expect(process.incidents).toEqual([]);
  });

  it('subscribes on first use and unsubscribes on close', async () => {
    const subscribed: string[] = [];
    let ended = 0;
    const publisher: Publisher = {
      publish: async () => undefined,
      async subscribe(topic) {
        subscribed.push(topic);
        return async () => {
          ended += 1;
        };
      },
    };
    const process = startProcess(store, clock, publisher);
    const { key } = await addUserWithKey(process);
    expect(subscribed).toEqual([]);
    await process.ask(key);
    await process.ask(key);
    expect(subscribed).toEqual(['revocations']);
    await process.api.close();
    expect(ended).toBe(1);
    await clock.advance(2000);
    expect(await process.ask(key)).toBe(200);
    expect(subscribed).toHaveLength(1);
  });

  it('reports a rejected subscription once a minute, and requests continue', async () => {
    let refusals = 0;
    const publisher: Publisher = {
      publish: () => Promise.reject(new Error('no rights')),
      subscribe() {
        refusals += 1;
        return Promise.reject(new Error('no rights'));
      },
    };
    const process = startProcess(store, clock, publisher);
    const { user, key, keyId } = await addUserWithKey(process);
    for (let look = 0; look < 5; look += 1) {
      expect(await process.ask(key)).toBe(200);
      await clock.advance(2000);
    }
    expect(refusals).toBe(1);
    await clock.advance(60_000);
    await process.ask(key);
    expect(refusals).toBe(2);
    expect(await revokeApiKey(process.services, user.id, keyId)).toBe(true);
    expect(await process.ask(key)).toBe(401);
    expect(process.incidents).toHaveLength(3);
  });
});

/** Reads return their result only when they are released. */
function holdReads(store: Store) {
  let holds = false;
  let release = (): void => undefined;
  let reach = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const held: Store = {
    ...store,
    collection(definition) {
      const collection = store.collection(definition);
      return {
        ...collection,
        async find(filter, options) {
          const found = await collection.find(filter, options);
          if (holds) {
            reach();
            await gate;
          }
          return found;
        },
      };
    },
  };
  return {
    store: held,
    reached,
    hold: () => {
      holds = true;
    },
    release: () => {
      holds = false;
      release();
    },
  };
}
