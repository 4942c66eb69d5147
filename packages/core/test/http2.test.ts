import { once } from 'node:events';
import { type ClientHttp2Session, connect, createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Mountable, toNodeListener } from '@questline/core';
import { afterEach, describe, expect, it } from 'vitest';

type Listener = Parameters<typeof createServer>[1];

const open: { server: Http2Server; client: ClientHttp2Session }[] = [];

afterEach(() => {
  for (const { server, client } of open.splice(0)) {
    client.destroy();
    server.close();
  }
});

async function start(api: Mountable): Promise<ClientHttp2Session> {
  const server = createServer(toNodeListener(api) as unknown as Listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  open.push({ server, client });
  return client;
}

const EVENTS = { 'Content-Type': 'text/event-stream' };

describe('Node listener on HTTP/2', () => {
  it('reads a body and answers', async () => {
    const client = await start({
      async handle({ method, path, body, signal }) {
        const bytes = await body.bytes(100);
        signal.throwIfAborted();
        return { status: 201, headers: { 'X-Asked': `${method} ${path}` }, body: bytes };
      },
    });
    const stream = client.request({ ':method': 'POST', ':path': '/a%20b?c' });
    stream.end('na\u00efve');
    const [headers] = await once(stream, 'response');
    expect([headers[':status'], headers['x-asked']]).toEqual([201, 'POST /a%20b']);
    expect(await text(stream)).toBe('na\u00efve');
  });

  it('never lets a failed stream look complete', async () => {
    const failing = async function* () {
      yield 'data: 1\n\n';
      throw new Error('secret');
    };
    const client = await start({ handle: async () => ({ status: 200, headers: EVENTS, body: failing() }) });
    await expect(text(client.request({ ':path': '/' }))).rejects.toThrow('INTERNAL_ERROR');
    expect(client.destroyed).toBe(false);
  });

  it('stops the work when the client disconnects, and only then', async () => {
    let asked = new AbortController().signal;
    let returned: () => void = () => undefined;
    const stopped = new Promise<void>((resolve) => {
      returned = resolve;
    });
    const silent: AsyncIterableIterator<string> = {
      next: () => new Promise(() => undefined),
      async return() {
        returned();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]: () => silent,
    };
    const client = await start({
      async handle({ path, signal }) {
        asked = signal;
        return { status: 200, headers: EVENTS, body: path === '/silent' ? silent : 'whole' };
      },
    });
    expect(await text(client.request({ ':path': '/whole' }))).toBe('whole');
    const whole = asked;
    const stream = client.request({ ':path': '/silent' });
    await once(stream, 'response');
    stream.close();
    await stopped;
    expect([whole.aborted, asked.aborted]).toEqual([false, true]);
  });
});
