import { once } from 'node:events';
import { connect } from 'node:net';
import { type Collection, StorageUnavailable, type Store, USERS } from '@questline/core';
import { createRealtime } from '@questline/realtime';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { openClient, refusal, until } from './client.ts';
import { createWorld } from './world.ts';

describe('a handshake', () => {
  it('with a token in the subprotocol is accepted and echoes it', async () => {
    const world = await createWorld();
    const protocol = `access_token.${await world.token(await world.addUser('ada'))}`;
    const client = await openClient(world.url, ['chat', protocol]);
    expect(client.socket.protocol).toBe(protocol);
    await client.settled();
  });

  it('with a token in the query is accepted', async () => {
    const world = await createWorld();
    const token = await world.token(await world.addUser('ada'));
    const client = await openClient(`${world.url}?token=${token}`);
    expect(client.socket.protocol).toBe('');
    await client.settled();
    // The same one twice is one.
    await (await openClient(`${world.url}?token=${token}`, [`access_token.${token}`])).settled();
  });

  it.each(['ai:chat', 'ai:generate'] as const)('with a key that has %s is accepted', async (scope) => {
    const world = await createWorld();
    const { key } = await world.key(await world.addUser('ada'), ['me:read', scope]);
    await (await openClient(`${world.url}?token=${key}`)).settled();
  });

  it('of nobody, or of somebody who may not, is refused with 401, all alike', async () => {
    const world = await createWorld();
    const ada = await world.addUser('ada');
    const banned = await world.addUser('banned');
    await world.store.collection(USERS).update(banned.id, { disabled: true });
    const token = await world.token(ada);
    const { key } = await world.key(ada, ['me:read', 'notebooks:read']);
    const refresh = await world.services.tokens.sign({ id: ada.id, tokenVersion: 0, typ: 'refresh' });
    const stale = await world.services.tokens.sign({ id: ada.id, tokenVersion: 7, typ: 'access' });
    const wrong: [string, string[]][] = [
      ['', []],
      ['?token=', []],
      ['?token=nonsense', []],
      [`?token=${refresh}`, []],
      [`?token=${stale}`, []],
      [`?token=${key}`, []],
      [`?token=${key}x`, []],
      ['?token=svc_live_', []],
      [`?token=${await world.token(banned)}`, []],
      [`?token=${token}&token=nonsense`, []],
      [`?token=${token}`, ['access_token.nonsense']],
      ['', [token]],
      ['', ['access_token.']],
    ];
    for (const [query, protocols] of wrong) {
      expect(await refusal(world.url + query, protocols)).toEqual({
        status: 401,
        body: '{"error":"Authentication failed"}',
        challenge: 'Bearer',
      });
    }
    expect(world.incidents).toEqual([]);
  });

  it('that is none gets a plain answer, and other requests stay the host’s', async () => {
    const world = await createWorld();
    const http = world.url.replace('ws:', 'http:');
    expect(await (await fetch(http)).text()).toBe('the host');
    const token = await world.token(await world.addUser('ada'));
    const socket = connect(Number(new URL(http).port), '127.0.0.1');
    socket.write(
      `GET /api/realtime?token=${token} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: nonsense\r\n\r\n`,
    );
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 (400|426) /);
    socket.destroy();
  });

  it('that leaves while its credential is looked up harms nobody', async () => {
    let hold: Promise<void> | undefined;
    const world = await createWorld({ store: (store) => slow(store, () => hold) });
    const token = await world.token(await world.addUser('ada'));
    let release = (): void => undefined;
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const { port } = new URL(world.url);
    const socket = connect(Number(port), '127.0.0.1');
    const request = once(world.server, 'upgrade');
    socket.write(
      `GET /api/realtime?token=${token} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    const [, serverSide] = await request;
    const gone = new Promise((resolve) => serverSide.once('close', resolve));
    socket.resetAndDestroy();
    await gone;
    hold = undefined;
    release();
    await (await world.open(token)).settled();
  });

  it('is refused with 503 while the store is away, and told to the host', async () => {
    let isAway = false;
    const world = await createWorld({
      store: (store) =>
        slow(store, async () => {
          if (isAway) throw new StorageUnavailable('away');
        }),
    });
    const token = await world.token(await world.addUser('ada'));
    isAway = true;
    expect((await refusal(`${world.url}?token=${token}`)).status).toBe(503);
    expect(world.incidents).toMatchObject([{ operation: 'realtime' }]);
  });
});

describe('a path that is not ours', () => {
  it('is answered 404 where nobody else listens', async () => {
    const world = await createWorld();
    expect((await refusal(world.url.replace('realtime', 'other'))).status).toBe(404);
    expect((await refusal(`${world.url}/`)).status).toBe(404);
  });

  it('belongs to whoever else listens', async () => {
    const world = await createWorld();
    const others = new WebSocketServer({ noServer: true });
    world.server.on('upgrade', (request, socket, head) => {
      if (request.url !== '/other') return;
      others.handleUpgrade(request, socket, head, (accepted) => accepted.send('{"from":"the other"}'));
    });
    const other = await openClient(world.url.replace('/api/realtime', '/other'));
    expect(await other.next()).toEqual({ from: 'the other' });
    await (await world.open(await world.token(await world.addUser('ada')))).settled();
  });

  it('can be chosen', async () => {
    const world = await createWorld();
    const realtime = createRealtime(world.services, { path: '/live' });
    world.server.removeAllListeners('upgrade');
    const detach = realtime.attach(world.server);
    const token = await world.token(await world.addUser('ada'));
    const url = world.url.replace('/api/realtime', '/live');
    await (await openClient(`${url}?token=${token}`)).settled();
    expect((await refusal(`${world.url}?token=${token}`)).status).toBe(404);
    detach();
    expect(world.server.listenerCount('upgrade')).toBe(0);
    for (const path of ['live', '', '/a?b', '/a b'])
      expect(() => createRealtime(world.services, { path })).toThrow(RangeError);
  });
});

describe('the end of a process', () => {
  it('closes what is open with 1001, lets nobody in any more, and leaves nothing behind', async () => {
    const world = await createWorld();
    const ada = await world.addUser('ada');
    const token = await world.token(ada);
    const sessionId = await world.addSession(ada);
    const clients = await Promise.all(Array.from({ length: 5 }, () => world.open(token)));
    for (const client of clients) {
      client.subscribe(sessionId);
      await client.settled();
    }
    const closing = world.realtime.close();
    for (const { closed } of clients) expect((await closed).code).toBe(1001);
    await closing;
    expect((await refusal(`${world.url}?token=${token}`)).status).toBe(503);
    await world.services.authenticator.close();
    expect(world.subscriptions).toBe(0);
    await until(() => world.clock.pending === 0);
  });

  it('does not wait for a client that says nothing any more', async () => {
    const world = await createWorld();
    const client = await world.open(await world.token(await world.addUser('ada')));
    client.socket.pause();
    const closing = world.realtime.close();
    await world.clock.advance(1000);
    await closing;
  });
});

/** Waits before every read of a user. */
function slow(store: Store, wait: () => Promise<void> | undefined): Store {
  return {
    ...store,
    collection(definition) {
      const collection: Collection<never> = store.collection(definition as never);
      return {
        ...collection,
        async get(...args: Parameters<typeof collection.get>) {
          await wait();
          return collection.get(...args);
        },
      } as never;
    },
  };
}
