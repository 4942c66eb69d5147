import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { USERS } from '@questline/core';
import { type Collection, StorageUnavailable, type Store } from '@questline/core/ports';
import { createRealtime } from '@questline/realtime';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { openClient, refusal, until } from './client.ts';
import { createTestApp } from './test-app.ts';

describe('realtime handshake', () => {
  it('accepts a token in the subprotocol and echoes it', async () => {
    const app = await createTestApp();
    const protocol = `access_token.${await app.token(await app.addUser('ada'))}`;
    const client = await openClient(app.url, ['chat', protocol]);
    expect(client.socket.protocol).toBe(protocol);
    await client.settled();
  });

  it('accepts a token in the query', async () => {
    const app = await createTestApp();
    const token = await app.token(await app.addUser('ada'));
    const client = await openClient(`${app.url}?token=${token}`);
    expect(client.socket.protocol).toBe('');
    await client.settled();
    // The same credential twice is accepted.
    await (await openClient(`${app.url}?token=${token}`, [`access_token.${token}`])).settled();
  });

  it.each(['ai:chat', 'ai:generate'] as const)('accepts a key with %s', async (scope) => {
    const app = await createTestApp();
    const { key } = await app.key(await app.addUser('ada'), ['me:read', scope]);
    await (await openClient(`${app.url}?token=${key}`)).settled();
  });

  it('rejects missing, invalid and unauthorized credentials equally with 401', async () => {
    const app = await createTestApp();
    const ada = await app.addUser('ada');
    const banned = await app.addUser('banned');
    await app.store.collection(USERS).update(banned.id, { disabled: true });
    const token = await app.token(ada);
    const { key } = await app.key(ada, ['me:read', 'notebooks:read']);
    const refresh = await app.services.tokens.sign({ id: ada.id, tokenVersion: 0, typ: 'refresh' });
    const stale = await app.services.tokens.sign({ id: ada.id, tokenVersion: 7, typ: 'access' });
    const wrong: [string, string[]][] = [
      ['', []],
      ['?token=', []],
      ['?token=nonsense', []],
      [`?token=${refresh}`, []],
      [`?token=${stale}`, []],
      [`?token=${key}`, []],
      [`?token=${key}x`, []],
      ['?token=svc_live_', []],
      [`?token=${await app.token(banned)}`, []],
      [`?token=${token}&token=nonsense`, []],
      [`?token=${token}`, ['access_token.nonsense']],
      ['', [token]],
      ['', ['access_token.']],
    ];
    for (const [query, protocols] of wrong) {
      expect(await refusal(app.url + query, protocols)).toEqual({
        status: 401,
        body: '{"error":"Authentication failed"}',
        challenge: 'Bearer',
      });
    }
    expect(app.incidents).toEqual([]);
  });

  it('answers an invalid handshake and leaves other requests to the host', async () => {
    const app = await createTestApp();
    const http = app.url.replace('ws:', 'http:');
    expect(await (await fetch(http)).text()).toBe('the host');
    const token = await app.token(await app.addUser('ada'));
    const socket = connect(Number(new URL(http).port), '127.0.0.1');
    socket.write(
      `GET /api/realtime?token=${token} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: nonsense\r\n\r\n`,
    );
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 (400|426) /);
    socket.destroy();
  });

  it('ignores a client that disconnects during the credential lookup', async () => {
    let hold: Promise<void> | undefined;
    const app = await createTestApp({ store: (store) => slow(store, () => hold) });
    const token = await app.token(await app.addUser('ada'));
    let release = (): void => undefined;
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const { port } = new URL(app.url);
    const socket = connect(Number(port), '127.0.0.1');
    const request = once(app.server, 'upgrade');
    socket.write(
      `GET /api/realtime?token=${token} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    const [, serverSide] = await request;
    const gone = new Promise((resolve) => serverSide.once('close', resolve));
    socket.resetAndDestroy();
    await gone;
    hold = undefined;
    release();
    await (await app.open(token)).settled();
  });

  it('answers 503 and reports to the host while the store is unavailable', async () => {
    let isAway = false;
    const app = await createTestApp({
      store: (store) =>
        slow(store, async () => {
          if (isAway) throw new StorageUnavailable('away');
        }),
    });
    const token = await app.token(await app.addUser('ada'));
    isAway = true;
    expect((await refusal(`${app.url}?token=${token}`)).status).toBe(503);
    expect(app.incidents).toMatchObject([{ operation: 'realtime' }]);
  });
});

describe('paths outside realtime', () => {
  it('answers 404 when the host handles no upgrade', async () => {
    const app = await createTestApp();
    expect((await refusal(app.url.replace('realtime', 'other'))).status).toBe(404);
    expect((await refusal(`${app.url}/`)).status).toBe(404);
  });

  it('leaves other paths to the host', async () => {
    const app = await createTestApp();
    const others = new WebSocketServer({ noServer: true });
    app.server.on('upgrade', (request, socket, head) => {
      if (request.url !== '/other') return;
      others.handleUpgrade(request, socket, head, (accepted) => accepted.send('{"from":"the other"}'));
    });
    const other = await openClient(app.url.replace('/api/realtime', '/other'));
    expect(await other.next()).toEqual({ from: 'the other' });
    await (await app.open(await app.token(await app.addUser('ada')))).settled();
  });

  it('uses the configured path', async () => {
    const app = await createTestApp();
    const realtime = createRealtime(app.services, { path: '/live' });
    app.server.removeAllListeners('upgrade');
    const detach = realtime.attach(app.server);
    const token = await app.token(await app.addUser('ada'));
    const url = app.url.replace('/api/realtime', '/live');
    await (await openClient(`${url}?token=${token}`)).settled();
    expect((await refusal(`${app.url}?token=${token}`)).status).toBe(404);
    detach();
    expect(app.server.listenerCount('upgrade')).toBe(0);
    for (const path of ['live', '', '/a?b', '/a b'])
      expect(() => createRealtime(app.services, { path })).toThrow(RangeError);
  });
});

describe('shutdown of realtime', () => {
  it('closes open sockets with 1001, rejects new ones and leaves nothing behind', async () => {
    const app = await createTestApp();
    const ada = await app.addUser('ada');
    const token = await app.token(ada);
    const sessionId = await app.addSession(ada);
    const clients = await Promise.all(Array.from({ length: 5 }, () => app.open(token)));
    for (const client of clients) {
      client.subscribe(sessionId);
      await client.settled();
    }
    const closing = app.realtime.close();
    for (const { closed } of clients) expect((await closed).code).toBe(1001);
    await closing;
    expect((await refusal(`${app.url}?token=${token}`)).status).toBe(503);
    await app.services.authenticator.close();
    expect(app.subscriptions).toBe(0);
    await until(() => app.clock.pending === 0);
  });

  it('waits a second for a silent client', async () => {
    const app = await createTestApp();
    const client = await app.open(await app.token(await app.addUser('ada')));
    client.socket.pause();
    let isClosed = false;
    const closing = app.realtime.close().then(() => {
      isClosed = true;
    });
    await turn();
    expect(isClosed).toBe(false);
    await app.clock.advance(1000);
    await closing;
  });
});

/** Delays every read of a user. */
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
