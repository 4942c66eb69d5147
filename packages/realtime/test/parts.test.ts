import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { finished } from 'node:stream/promises';
import { describe, expect, it, vi } from 'vitest';
import { presentedBy } from '../src/credential.ts';
import { createLine } from '../src/line.ts';
import { refuse } from '../src/refusals.ts';

describe('the credential of a handshake', () => {
  const present = (url: string | undefined, protocols?: string) =>
    presentedBy({ url, headers: { 'sec-websocket-protocol': protocols } } as IncomingMessage);

  it('is a subprotocol, which is echoed', () => {
    for (const protocols of ['access_token.a', 'chat, access_token.a', ' access_token.a ,chat'])
      expect(present('/', protocols)).toEqual({
        credential: 'a',
        isEmpty: false,
        protocol: 'access_token.a',
      });
  });

  it('is a parameter of the query', () => {
    const given = { credential: 'a', isEmpty: false, protocol: undefined };
    expect(present('/?token=a')).toEqual(given);
    expect(present('/?token=a', 'chat')).toEqual(given);
    expect(present('/?token=access_token.a')).toEqual(given);
    expect(present('/x?other=1&token=a%2Bb', '')).toEqual({ ...given, credential: 'a+b' });
  });

  it('may be given several times, but only one', () => {
    expect(present('/?token=a&token=a', 'access_token.a, access_token.a').credential).toBe('a');
    for (const [url, protocols] of [
      ['/?token=a&token=b', ''],
      ['/?token=a', 'access_token.b'],
      ['/', 'access_token.a, access_token.b'],
      ['/?token=b&token=a&token=a', ''],
    ] as const)
      expect(present(url, protocols)).toMatchObject({ credential: undefined, isEmpty: false });
  });

  it('is absent', () => {
    const empty = { credential: undefined, isEmpty: true, protocol: undefined };
    expect(present(undefined)).toEqual(empty);
    expect(present('/?token=', 'chat, token.a')).toEqual(empty);
    expect(present('/', 'access_token.')).toEqual({ ...empty, protocol: 'access_token.' });
  });
});

describe('a line of work', () => {
  it('runs one task after the other, and goes on after a failure', async () => {
    const errors: unknown[] = [];
    const line = createLine((error) => void errors.push(error));
    const steps: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string) => async () => {
      steps.push(`${name} begins`);
      await new Promise<void>((resolve) => ends.push(resolve));
      steps.push(`${name} ends`);
      if (name === 'a') throw new Error('failed');
    };
    line.add(work('a'));
    line.add(work('b'));
    expect(steps).toEqual(['a begins']);
    ends.shift()?.();
    await vi.waitFor(() => expect(steps).toEqual(['a begins', 'a ends', 'b begins']));
    expect(errors).toEqual([new Error('failed')]);
    ends.shift()?.();
    await vi.waitFor(() => expect(steps.at(-1)).toBe('b ends'));
    line.add(work('c'));
    await vi.waitFor(() => expect(steps.at(-1)).toBe('c begins'));
    ends.shift()?.();
  });

  it('drops the tasks that have not begun', async () => {
    const line = createLine(() => expect.fail());
    const steps: string[] = [];
    let end = (): void => undefined;
    line.add(async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      steps.push('a');
    });
    line.add(async () => void steps.push('b'));
    line.close();
    end();
    await vi.waitFor(() => expect(steps).toEqual(['a']));
    line.add(async () => void steps.push('c'));
    await vi.waitFor(() => expect(steps).toEqual(['a', 'c']));
  });
});

describe('a rejected handshake', () => {
  function createSocket() {
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
    return { socket, state };
  }

  it.each([
    [401, 'Unauthorized', ['WWW-Authenticate: Bearer']],
    [404, 'Not Found', []],
    [503, 'Service Unavailable', ['Retry-After: 5']],
  ] as const)('is answered with %i, and the socket is closed', async (status, text, more) => {
    const { socket, state } = createSocket();
    refuse(socket, status, 'Größe');
    await vi.waitFor(() => expect(socket.destroyed).toBe(true));
    const [head, body] = state.text.split('\r\n\r\n');
    expect(head?.split('\r\n')).toEqual([
      `HTTP/1.1 ${status} ${text}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength('{"error":"Größe"}')}`,
      'Cache-Control: no-store',
      ...more,
    ]);
    expect(body).toBe('{"error":"Größe"}');
  });

  it('closes a socket that takes no answer', () => {
    const { socket, state } = createSocket();
    socket.end();
    expect(socket.writable).toBe(false);
    refuse(socket, 401, 'no');
    expect([socket.destroyed, state.text]).toEqual([true, '']);
  });

  it('closes a socket that fails', async () => {
    const socket = new Duplex({
      autoDestroy: false,
      read() {
        // The client sends nothing more.
      },
      write: (_chunk, _encoding, done) => done(new Error('reset')),
    });
    refuse(socket, 401, 'no');
    await finished(socket).catch(() => undefined);
    await vi.waitFor(() => expect(socket.destroyed).toBe(true));
  });
});
