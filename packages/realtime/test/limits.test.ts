import { revokeApiKey, SESSIONS, USERS } from '@questline/core';
import { describe, expect, it } from 'vitest';
import { until } from './client.ts';
import { createWorld, type World } from './world.ts';

const LIMIT = 32 * 1024;
/** More than any revocation may take to close a socket. */
const FIVE_SECONDS = 5000;
/** The life of an access token. */
const WEEK = 7 * 86_400_000;

async function someone() {
  const world = await createWorld();
  const user = await world.addUser('ada');
  const token = await world.token(user);
  return { world, user, token };
}

describe('a frame', () => {
  const heartbeat = (bytes: number) => `{"action":"heartbeat"${' '.repeat(bytes - 22)}}`;

  it('of 32 KB is read, one byte more closes the socket with 1009', async () => {
    const { world, token } = await someone();
    const client = await world.open(token);
    client.send(heartbeat(LIMIT));
    expect(await client.next()).toBe('pong');
    client.send(heartbeat(LIMIT + 1));
    expect((await client.closed).code).toBe(1009);
  });

  it('in many fragments counts as one', async () => {
    const { world, token } = await someone();
    const client = await world.open(token);
    for (let sent = 0; sent <= LIMIT; sent += 1024) client.socket.send('x'.repeat(1024), { fin: false });
    expect((await client.closed).code).toBe(1009);
  });

  it('that is no UTF-8 closes the socket with 1007', async () => {
    const { world, token } = await someone();
    const client = await world.open(token);
    client.socket.send(new Uint8Array([0xc3, 0x28]), { binary: false });
    expect((await client.closed).code).toBe(1007);
  });
});

describe('a socket', () => {
  it('has 50 subscriptions; the next is refused, and one that ends makes room', async () => {
    const { world, user, token } = await someone();
    const client = await world.open(token);
    const ids: string[] = [];
    for (let at = 0; at < 51; at += 1) ids.push(await world.addSession(user));
    const [first = '', last = ''] = [ids[0], ids[50]];
    for (const id of ids) client.subscribe(id);
    expect(await client.next()).toMatchObject({ type: 'error', code: 'limit', sessionId: last });
    client.unsubscribe(first);
    client.subscribe(last);
    await client.settled();
    world.tell(last);
    world.tell(first);
    expect(await client.next()).toMatchObject({ sessionId: last });
    await client.settled();
    expect(client.heard).toEqual([]);
  });

  it('that says nothing for ten minutes is closed with 4408; a heartbeat or a ping is something', async () => {
    const { world, token } = await someone();
    const [silent, talking, pinging] = [
      await world.open(token),
      await world.open(token),
      await world.open(token),
    ];
    await world.clock.advance(9 * 60_000);
    await talking.settled();
    const ponged = new Promise((resolve) => pinging.socket.once('pong', resolve));
    pinging.socket.ping();
    await ponged;
    await world.clock.advance(60_000);
    expect(await silent.closed).toEqual({ code: 4408, reason: 'nothing was said for too long' });
    await talking.settled();
    await pinging.settled();
  });

  it('whose client does not read is closed with 1013 when 1 MB waits', async () => {
    const { world, user, token } = await someone();
    const sessionId = await world.addSession(user);
    const client = await world.open(token);
    client.subscribe(sessionId);
    await client.settled();
    client.socket.pause();
    const before = world.subscriptions;
    const agents = Array.from({ length: 5000 }, (_, at) => `agent-${at}`.padEnd(24));
    for (let told = 0; world.subscriptions === before; told += 1) {
      if (told > 5000) throw new Error('it takes any amount');
      world.tell(sessionId, agents);
      await new Promise(setImmediate);
    }
    client.socket.resume();
    expect((await client.closed).code).toBe(1013);
  });

  it('that floods is answered in order, one piece of work at a time', async () => {
    let most = 0;
    let now = 0;
    const world = await createWorld({
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
    const client = await world.open(await world.token(await world.addUser('ada')));
    const id = (at: number) => at.toString(16).padStart(24, '0');
    for (let at = 0; at < 3000; at += 1) client.subscribe(id(at));
    for (let at = 0; at < 3000; at += 1) {
      expect(await client.next()).toMatchObject({ code: 'not_found', sessionId: id(at) });
    }
    expect(most).toBe(1);
    await client.settled();
  });
});

describe('a user', () => {
  it('has ten sockets; the next is closed with 4429, and one that ends makes room', async () => {
    const { world, user, token } = await someone();
    const { key } = await world.key(user, ['ai:chat']);
    const clients = await Promise.all(Array.from({ length: 10 }, () => world.open(token)));
    const surplus = await world.open(key);
    expect(await surplus.closed).toEqual({ code: 4429, reason: 'too many connections of this user' });
    await (await world.open(await world.token(await world.addUser('bob')))).settled();
    clients[0]?.socket.close();
    await clients[0]?.closed;
    const [next] = await firstThatStays(world, token);
    await next?.settled();
  });

  it('who opens 40 at once keeps ten', async () => {
    const { world, token } = await someone();
    const clients = await Promise.all(Array.from({ length: 40 }, () => world.open(token)));
    let closed = 0;
    for (const client of clients) void client.closed.then(() => (closed += 1));
    await until(() => closed === 30);
    const open = clients.filter(({ socket }) => socket.readyState === socket.OPEN);
    expect(open).toHaveLength(10);
    await Promise.all(open.map((client) => client.settled()));
  });
});

describe('an open socket closes with 4401', () => {
  const closes = async (world: World, credential: string, end: () => Promise<unknown>) => {
    const client = await world.open(credential);
    await world.clock.advance(FIVE_SECONDS);
    await client.settled();
    await end();
    await world.clock.advance(FIVE_SECONDS);
    expect(await client.closed).toEqual({ code: 4401, reason: 'the credential has ended' });
  };

  it('within five seconds of its key’s revocation', async () => {
    const { world, user } = await someone();
    const { key, keyId } = await world.key(user, ['ai:chat']);
    await closes(world, key, () => revokeApiKey(world.services, user.id, keyId));
  });

  it('within five seconds when another process revoked it and its message was lost', async () => {
    const { world, user } = await someone();
    const { key, keyId } = await world.key(user, ['ai:chat']);
    const elsewhere = { ...world.services.authenticator, forgetKey: () => undefined };
    await closes(world, key, () =>
      revokeApiKey({ ...world.services, authenticator: elsewhere }, user.id, keyId),
    );
  });

  it('within five seconds of a logout', async () => {
    const { world, user, token } = await someone();
    await closes(world, token, () => world.store.collection(USERS).add(user.id, { tokenVersion: 1 }));
  });

  it('within five seconds of a ban, keys too', async () => {
    const { world, user } = await someone();
    const { key } = await world.key(user, ['ai:generate']);
    await closes(world, key, () => world.store.collection(USERS).update(user.id, { disabled: true }));
  });

  it('when its token or its key runs out', async () => {
    const { world, user, token } = await someone();
    const { key } = await world.key(user, ['ai:chat'], world.clock.now() + WEEK);
    await world.clock.advance(WEEK - FIVE_SECONDS);
    const clients = [await world.open(token), await world.open(key)];
    for (const client of clients) await client.settled();
    await world.clock.advance(2 * FIVE_SECONDS);
    for (const client of clients) expect((await client.closed).code).toBe(4401);
  });

  it('before an event that comes first, when this process knows', async () => {
    const { world, user } = await someone();
    const { key, keyId } = await world.key(user, ['ai:chat']);
    const sessionId = await world.addSession(user);
    const client = await world.open(key);
    client.subscribe(sessionId);
    await client.settled();
    await revokeApiKey(world.services, user.id, keyId);
    world.tell(sessionId);
    expect((await client.closed).code).toBe(4401);
    expect(client.heard).toEqual([]);
  });
});

/** A slot is free as soon as the server has seen the good-bye. */
async function firstThatStays(world: World, token: string) {
  for (;;) {
    const client = await world.open(token);
    const outcome = await Promise.race([client.closed, client.settled().catch(() => undefined)]);
    if (outcome === undefined && client.socket.readyState === client.socket.OPEN) return [client];
  }
}
