import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { ApiError } from '@questline/core';
import { createRealtime, type RealtimeServices } from '@questline/realtime';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it, vi } from 'vitest';

type Identify = (credential: unknown) => Promise<unknown>;

/** Live updates with an authenticator of the test. */
function create(identify: Identify, identifyHost?: Identify) {
  const incidents: unknown[] = [];
  const clock = createFakeClock();
  const services = {
    authenticator: { identify, identifyHost },
    clock,
    onError: (incident: unknown) => void incidents.push(incident),
  } as unknown as RealtimeServices;
  return { realtime: createRealtime(services), incidents };
}

/** The client of a handshake, and what it was answered. */
function createSocket(isEncrypted = false) {
  const state = { text: '' };
  const socket = new Duplex({
    read() {
      // The client sends nothing more.
    },
    write(chunk, _encoding, done) {
      state.text += String(chunk);
      done();
    },
  });
  const given = Object.assign(socket, { remoteAddress: '10.0.0.7', ...(isEncrypted && { encrypted: true }) });
  const answer = async (): Promise<readonly [number, unknown]> => {
    await vi.waitFor(() => expect(socket.destroyed).toBe(true));
    const [head = '', body = ''] = state.text.split('\r\n\r\n');
    return [Number(head.split(' ')[1]), JSON.parse(body).error];
  };
  return { socket: given, answer, state };
}

const request = (url: string | undefined, socket: Duplex, more: object = {}): IncomingMessage =>
  ({ url, headers: {}, method: 'GET', socket, ...more }) as IncomingMessage;

function upgrade({ realtime }: ReturnType<typeof create>, url: string | undefined, isEncrypted = false) {
  const made = createSocket(isEncrypted);
  const isOurs = realtime.upgrade(request(url, made.socket), made.socket, Buffer.alloc(0));
  return { ...made, isOurs };
}

const TOKEN = '/api/realtime?token=t';
const never: Identify = () => new Promise(() => undefined);

describe('the upgrade of a connection', () => {
  it('is left to the host at another path', () => {
    const app = create(never);
    for (const url of ['/', '/api/realtime/', '/api/realtimes', '/api?/api/realtime', undefined])
      expect(upgrade(app, url).isOurs).toBe(false);
    expect(upgrade(app, TOKEN).isOurs).toBe(true);
  });

  it('needs a path that begins with a slash', () => {
    const services = {} as RealtimeServices;
    for (const path of ['', 'api', 'x/api', '/a?b', '/a#b', '/a b'])
      expect(() => createRealtime(services, { path })).toThrow(
        new RangeError('createRealtime: path must begin with a slash'),
      );
    expect(() => createRealtime(services, { path: '/' })).not.toThrow();
  });

  it('is refused while 1,000 others wait for the lookup of their credential', async () => {
    const ends: (() => void)[] = [];
    const app = create(() => new Promise((resolve) => ends.push(() => resolve(undefined))));
    const waiting = Array.from({ length: 1000 }, () => upgrade(app, TOKEN));
    const refused = upgrade(app, TOKEN);
    expect(refused.isOurs).toBe(true);
    expect(await refused.answer()).toEqual([503, 'The service takes no more connections now']);
    expect(waiting.at(-1)?.socket.writable).toBe(true);
    ends[0]?.();
    expect(await waiting[0]?.answer()).toEqual([401, 'Authentication failed']);
    await turn();
    // The end of one lookup makes room for one.
    const [next, another] = [upgrade(app, TOKEN), upgrade(app, TOKEN)];
    expect([next.socket.writable, another.socket.writable]).toEqual([true, false]);
    for (const { socket } of [...waiting, next]) socket.destroy();
  });

  it('is refused after the end, also if its lookup began before', async () => {
    let end: (caller: unknown) => void = () => undefined;
    const app = create(() => new Promise((resolve) => (end = resolve)));
    const waiting = upgrade(app, TOKEN);
    await app.realtime.close();
    expect(await upgrade(app, TOKEN).answer()).toEqual([503, 'The service takes no more connections now']);
    end({ userId: 'u' });
    expect(await waiting.answer()).toEqual([503, 'The service is about to restart']);
    expect(app.incidents).toEqual([]);
  });

  it.each([401, 403])('is refused with 401 if the credential is refused with %i', async (status) => {
    const app = create(() => Promise.reject(new ApiError(status, 'no')));
    expect(await upgrade(app, TOKEN).answer()).toEqual([401, 'Authentication failed']);
    expect(app.incidents).toEqual([]);
  });

  it('is refused with 503 and reported if the credential cannot be looked up', async () => {
    for (const error of [new Error('away'), new ApiError(404, 'no'), new ApiError(503, 'away')]) {
      const app = create(() => Promise.reject(error));
      expect(await upgrade(app, TOKEN).answer()).toEqual([503, 'The service is temporarily unavailable']);
      expect(app.incidents).toEqual([{ operation: 'realtime', requestId: '', error }]);
    }
  });

  it('needs a scope for models, if the credential has scopes', async () => {
    for (const scopes of [[], ['files:read']]) {
      const app = create(async () => ({ userId: 'u', scopes }));
      expect(await upgrade(app, TOKEN).answer()).toEqual([401, 'Authentication failed']);
    }
  });

  it('is the request of the host without a credential', async () => {
    const asked: unknown[] = [];
    const app = create(never, async (credential) => void asked.push(credential));
    const plain = upgrade(app, '/api/realtime?x=1');
    expect(await plain.answer()).toEqual([401, 'Authentication failed']);
    await upgrade(app, '/api/realtime', true).answer();
    const facts = { method: 'GET', path: '/api/realtime', headers: {}, remoteAddress: '10.0.0.7' };
    expect(asked).toEqual([
      { ...facts, protocol: 'http' },
      { ...facts, protocol: 'https' },
    ]);
    expect(await upgrade(create(never), '/api/realtime').answer()).toEqual([401, 'Authentication failed']);
  });

  it('ends with a socket that fails during the lookup', async () => {
    const app = create(never);
    const { socket } = upgrade(app, TOKEN);
    socket.emit('error', new Error('reset'));
    expect(socket.destroyed).toBe(true);
  });
});
