import { setImmediate as turn } from 'node:timers/promises';
import { revokeApiKey, USERS } from '@questline/core';
import { SESSIONS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { until } from './client.ts';
import { createTestApp, type TestApp } from './test-app.ts';

const LIMIT = 32 * 1024;
/** Maximum time until a revocation closes a socket. */
const FIVE_SECONDS = 5000;
const SOCKETS = 20;
/** Lifetime of an access token. */
const WEEK = 7 * 86_400_000;

async function someone() {
  const app = await createTestApp();
  const user = await app.addUser('ada');
  const token = await app.token(user);
  return { app, user, token };
}

describe('realtime frame', () => {
  const heartbeat = (bytes: number) => `{"action":"heartbeat"${' '.repeat(bytes - 22)}}`;

  it('is accepted at 32 KB and closes the socket with 1009 one byte above', async () => {
    const { app, token } = await someone();
    const client = await app.open(token);
    client.send(heartbeat(LIMIT));
    expect(await client.next()).toBe('pong');
    client.send(heartbeat(LIMIT + 1));
    expect((await client.closed).code).toBe(1009);
  });

  it('counts as one in many fragments', async () => {
    const { app, token } = await someone();
    const client = await app.open(token);
    for (let sent = 0; sent <= LIMIT; sent += 1024) client.socket.send('x'.repeat(1024), { fin: false });
    expect((await client.closed).code).toBe(1009);
  });

  it('closes the socket with 1007 if it is not UTF-8', async () => {
    const { app, token } = await someone();
    const client = await app.open(token);
    client.socket.send(new Uint8Array([0xc3, 0x28]), { binary: false });
    expect((await client.closed).code).toBe(1007);
  });
});

describe('realtime socket', () => {
  it('shares the reads of its user with those of others while many are open', async () => {
    let reads = 0;
    const app = await createTestApp({
      store: (store) => ({
        ...store,
        collection(definition) {
          const collection = store.collection(definition);
          return {
            ...collection,
            get(...args) {
              reads += 1;
              return collection.get(...args);
            },
            find(...args) {
              reads += 1;
              return collection.find(...args);
            },
          };
        },
      }),
    });
    const users = await Promise.all(Array.from({ length: SOCKETS }, (_, at) => app.addUser(`user-${at}`)));
    const clients = await Promise.all(users.map(async (user) => app.open(await app.token(user))));
    // Two checks of each socket, which read its user alone.
    await app.clock.advance(4000);
    reads = 0;
    await app.clock.advance(60_000);
    expect(reads).toBe(60);
    const [banned] = users;
    if (banned === undefined) throw new Error('no user');
    await app.store.collection(USERS).update(banned.id, { disabled: true });
    await app.clock.advance(FIVE_SECONDS);
    expect((await clients[0]?.closed)?.code).toBe(4401);
    expect(clients.filter(({ socket }) => socket.readyState === socket.OPEN)).toHaveLength(SOCKETS - 1);
  });

  it('rejects subscription 51, and accepts another when one ends', async () => {
    const { app, user, token } = await someone();
    const client = await app.open(token);
    const ids: string[] = [];
    for (let at = 0; at < 51; at += 1) ids.push(await app.addSession(user));
    const [first = '', last = ''] = [ids[0], ids[50]];
    for (const id of ids) client.subscribe(id);
    expect(await client.next()).toMatchObject({ type: 'error', code: 'limit', sessionId: last });
    client.unsubscribe(first);
    client.subscribe(last);
    await client.settled();
    app.publish(last);
    app.publish(first);
    expect(await client.next()).toMatchObject({ sessionId: last });
    await client.settled();
    expect(client.heard).toEqual([]);
  });

  it('closes with 4408 after ten silent minutes; a heartbeat or ping resets the time', async () => {
    const { app, token } = await someone();
    const [silent, talking, pinging] = [await app.open(token), await app.open(token), await app.open(token)];
    await app.clock.advance(9 * 60_000);
    await talking.settled();
    const ponged = new Promise((resolve) => pinging.socket.once('pong', resolve));
    pinging.socket.ping();
    await ponged;
    await app.clock.advance(60_000);
    expect(await silent.closed).toEqual({ code: 4408, reason: 'nothing was said for too long' });
    await talking.settled();
    await pinging.settled();
  });

  it('closes with 1013 when 1 MB waits for a client that does not read', async () => {
    const { app, user, token } = await someone();
    const sessionId = await app.addSession(user);
    const client = await app.open(token);
    client.subscribe(sessionId);
    await client.settled();
    client.socket.pause();
    const before = app.subscriptions;
    const agents = Array.from({ length: 5000 }, (_, at) => `agent-${at}`.padEnd(24));
    for (let reported = 0; app.subscriptions === before; reported += 1) {
      if (reported > 5000) throw new Error('the socket accepts any amount');
      app.publish(sessionId, agents);
      await new Promise(setImmediate);
    }
    client.socket.resume();
    expect((await client.closed).code).toBe(1013);
  });

  it('handles a flood in order, one frame at a time', async () => {
    let most = 0;
    let now = 0;
    const app = await createTestApp({
      store: (store) => ({
        ...store,
        collection(definition) {
          const collection = store.collection(definition);
          if (definition.name !== SESSIONS.name) return collection;
          return {
            ...collection,
            async get(...args) {
              now += 1;
              most = Math.max(most, now);
              await new Promise(setImmediate);
              now -= 1;
              return collection.get(...args);
            },
          };
        },
      }),
    });
    const client = await app.open(await app.token(await app.addUser('ada')));
    const id = (at: number) => at.toString(16).padStart(24, '0');
    for (let at = 0; at < 3000; at += 1) client.subscribe(id(at));
    for (let at = 0; at < 3000; at += 1) {
      expect(await client.next()).toMatchObject({ code: 'not_found', sessionId: id(at) });
    }
    expect(most).toBe(1);
    await client.settled();
  });
});

describe('realtime sockets of a user', () => {
  it('closes socket eleven with 4429, and accepts another when one ends', async () => {
    const { app, user, token } = await someone();
    const { key } = await app.key(user, ['ai:chat']);
    const clients = await Promise.all(Array.from({ length: 10 }, () => app.open(token)));
    const surplus = await app.open(key);
    expect(await surplus.closed).toEqual({ code: 4429, reason: 'too many connections of this user' });
    await (await app.open(await app.token(await app.addUser('bob')))).settled();
    clients[0]?.socket.close();
    await clients[0]?.closed;
    const [next] = await firstThatStays(app, token);
    await next?.settled();
  });

  it.each([
    [2, 1],
    [1, 1],
  ])('are ten at a time: of %i open ones, %i ended before', async (opened, ended) => {
    const { app, token } = await someone();
    const first = await Promise.all(Array.from({ length: opened }, () => app.open(token)));
    for (const { socket } of first.slice(0, ended)) socket.close();
    await untilConnected(app, opened - ended);
    const others = Array.from({ length: 10 - opened + ended }, () => app.open(token));
    for (const client of await Promise.all(others)) await client.settled();
    expect((await (await app.open(token)).closed).code).toBe(4429);
  });

  it('keeps ten of 40 parallel sockets', async () => {
    const { app, token } = await someone();
    const clients = await Promise.all(Array.from({ length: 40 }, () => app.open(token)));
    let closed = 0;
    for (const client of clients) void client.closed.then(() => (closed += 1));
    await until(() => closed === 30);
    const open = clients.filter(({ socket }) => socket.readyState === socket.OPEN);
    expect(open).toHaveLength(10);
    await Promise.all(open.map((client) => client.settled()));
  });
});

describe('open socket closes with 4401', () => {
  const closes = async (app: TestApp, credential: string, end: () => Promise<unknown>) => {
    const client = await app.open(credential);
    await app.clock.advance(FIVE_SECONDS);
    await client.settled();
    await end();
    await app.clock.advance(FIVE_SECONDS);
    expect(await client.closed).toEqual({ code: 4401, reason: 'the credential has ended' });
  };

  it('closes within five seconds after its key is revoked', async () => {
    const { app, user } = await someone();
    const { key, keyId } = await app.key(user, ['ai:chat']);
    await closes(app, key, () => revokeApiKey(app.services, user.id, keyId));
  });

  it('closes within five seconds when another process revoked it and the message was lost', async () => {
    const { app, user } = await someone();
    const { key, keyId } = await app.key(user, ['ai:chat']);
    const elsewhere = { ...app.services.authenticator, forgetKey: () => undefined };
    await closes(app, key, () => revokeApiKey({ ...app.services, authenticator: elsewhere }, user.id, keyId));
  });

  it('is not looked at without sockets, and is again with the next one', async () => {
    const { app, user, token } = await someone();
    await app.services.authenticator.identify(token);
    const before = app.clock.pending;
    const client = await app.open(token);
    await client.settled();
    expect(app.clock.pending).toBe(before + 1);
    client.socket.close();
    await untilConnected(app, 0);
    await app.clock.advance(FIVE_SECONDS);
    expect(app.clock.pending).toBe(before);
    await closes(app, token, () => app.store.collection(USERS).add(user.id, { tokenVersion: 1 }));
  });

  it('closes within five seconds after a logout', async () => {
    const { app, user, token } = await someone();
    await closes(app, token, () => app.store.collection(USERS).add(user.id, { tokenVersion: 1 }));
  });

  it('closes within five seconds after a ban, also with a key', async () => {
    const { app, user } = await someone();
    const { key } = await app.key(user, ['ai:generate']);
    await closes(app, key, () => app.store.collection(USERS).update(user.id, { disabled: true }));
  });

  it('closes when its token or key expires', async () => {
    const { app, user, token } = await someone();
    const { key } = await app.key(user, ['ai:chat'], app.clock.now() + WEEK);
    await app.clock.advance(WEEK - FIVE_SECONDS);
    const clients = [await app.open(token), await app.open(key)];
    for (const client of clients) await client.settled();
    await app.clock.advance(2 * FIVE_SECONDS);
    for (const client of clients) expect((await client.closed).code).toBe(4401);
  });

  it('closes before the next event once this process knows of the revocation', async () => {
    const { app, user } = await someone();
    const { key, keyId } = await app.key(user, ['ai:chat']);
    const sessionId = await app.addSession(user);
    const client = await app.open(key);
    client.subscribe(sessionId);
    await client.settled();
    await revokeApiKey(app.services, user.id, keyId);
    app.publish(sessionId);
    expect((await client.closed).code).toBe(4401);
    expect(client.heard).toEqual([]);
  });
});

/** Waits until the server has this number of connections, and has handled the end of the others. */
async function untilConnected({ server }: TestApp, wanted: number): Promise<void> {
  const count = () =>
    new Promise<number>((resolve, reject) => {
      server.getConnections((error, connections) => (error ? reject(error) : resolve(connections)));
    });
  while ((await count()) !== wanted) await turn();
  await turn();
}

/** A slot is free when the server has received the close frame. */
async function firstThatStays(app: TestApp, token: string) {
  for (;;) {
    const client = await app.open(token);
    const outcome = await Promise.race([client.closed, client.settled().catch(() => undefined)]);
    if (outcome === undefined && client.socket.readyState === client.socket.OPEN) return [client];
  }
}
