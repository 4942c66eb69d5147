import { getEventListeners } from 'node:events';
import type { RequestListener } from 'node:http';
import type { MediaStream } from '@questline/core/ports';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type DownloadOptions, download } from '../src/http/download.ts';
import { Faults } from '../src/http/faults.ts';
import { failure } from './collect.ts';
import { serveSite, serveText, toClose } from './web-site.ts';

const VIDEO = { 'content-type': 'video/webm' };

/** Downloads as a provider whose own address is that of the URL. */
function take(address: string, options: Partial<DownloadOptions> = {}): Promise<MediaStream> {
  return download(new URL(address), {
    origin: new URL(address).origin,
    headers: ['x-key', 'k', 'content-type', 'application/json', 'accept', 'video/*'],
    signal: undefined,
    faults: new Faults('vendor', 'k1', () => ({})),
    firstByteTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    isAllowedAddress: () => true,
    ...options,
  });
}

const endless =
  (status: number, headers: Record<string, string>): RequestListener =>
  (_request, response) => {
    response.writeHead(status, headers);
    const more = (): void => {
      while (response.write(Buffer.alloc(2 ** 16)));
      response.once('drain', more);
    };
    more();
  };

function useFakeTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
}

describe('download of a provider', () => {
  it('has the headers of the call, without the type of a body', async () => {
    const { url, requests } = await serveText('video', VIDEO);
    await take(url);
    expect(requests[0]?.headers).toMatchObject({ 'x-key': 'k', accept: 'video/*', connection: 'close' });
    expect(requests[0]?.headers['content-type']).toBeUndefined();
  });

  it('may have an own address in a private network', async () => {
    const { url } = await serveText('video', VIDEO);
    const own = url.replace('127.0.0.1', 'localhost');
    expect((await take(own, { isAllowedAddress: () => false })).mediaType).toBe('video/webm');
  });

  it.each([
    ['VIDEO/WebM ; codecs=vp9', 'video/webm'],
    ['audio/mpeg', 'audio/mpeg'],
    ['image/png', 'image/png'],
    ['application/octet-stream', 'video/mp4'],
    ['x-video/webm', 'video/mp4'],
    [undefined, 'video/mp4'],
  ])('of type %s is %s', async (type, mediaType) => {
    const { url } = await serveText('video', type === undefined ? {} : { 'content-type': type });
    expect((await take(url)).mediaType).toBe(mediaType);
  });

  it.each([201, 206, 299, 400, 404])('with status %i is an error', async (status) => {
    const { url, requests } = await serveText('video', { ...VIDEO, location: '/other' }, status);
    expect(await failure(take(url))).toMatchObject({ message: `vendor: answered ${status}: video`, status });
    expect(requests).toHaveLength(1);
  });

  it.each([300, 399])('follows a redirect of status %i, five times', async (status) => {
    const { url, requests } = await serveSite((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left > 0) response.writeHead(status, { location: `${left - 1}` }).end();
      else response.writeHead(200, VIDEO).end();
    });
    await take(`${url}/5`);
    expect(requests).toHaveLength(6);
    expect(await failure(take(`${url}/6`))).toMatchObject({
      kind: 'failed',
      message: 'vendor: redirects more than 5 times',
    });
  });

  it('is an error where a redirect names no address', async () => {
    for (const headers of [{}, { location: 'http://[' }]) {
      const { url, requests } = await serveText('', headers, 302);
      expect((await failure(take(url))).message).toContain('answered 302');
      expect(requests).toHaveLength(1);
    }
  });

  it('reads no body of a redirect', async () => {
    const { url, requests } = await serveSite((request, response) => {
      if (request.url === '/video') response.writeHead(200, VIDEO).end();
      else endless(302, { location: '/video' })(request, response);
    });
    await take(url);
    await toClose(requests[0]);
    expect(requests[0]?.socket.destroyed).toBe(true);
  });
});

describe('download from an address of a vendor', () => {
  const origin = 'https://api.example.com';

  it.each([
    ['http://192.0.2.1/', 'vendor: the result URL does not use https'],
    ['https://user@192.0.2.1/', 'vendor: url: credentials in an address are not accepted.'],
    ['https://192.0.2.1/', 'vendor: url: this address is not on the open internet.'],
    ['https://localhost:1/', 'vendor: url: this address is not on the open internet.'],
  ])('is refused at %s', async (address, message) => {
    const isAllowedAddress = () => false;
    expect(await failure(take(address, { origin, isAllowedAddress }))).toMatchObject({
      kind: 'failed',
      message,
    });
  });
});

describe('end of a download', () => {
  it('leaves no timer and no listener', async () => {
    useFakeTimers();
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const { url } = await serveText('video', VIDEO);
    const { body } = await take(url, { signal });
    expect([listeners(), vi.getTimerCount()]).toEqual([1, 0]);
    const iterator = body[Symbol.asyncIterator]();
    expect(Buffer.from((await iterator.next()).value ?? []).toString()).toBe('video');
    expect([listeners(), vi.getTimerCount()]).toEqual([1, 0]);
    expect(await iterator.next()).toMatchObject({ done: true });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);

    const refused = await serveText('no', {}, 404);
    await failure(take(refused.url, { signal }));
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);
    await failure(take('http://127.0.0.1:1/', { signal }));
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);
    const left = await take(url, { signal });
    await left.body[Symbol.asyncIterator]().return?.();
    expect([listeners(), vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('has no timers where the times are 0', async () => {
    useFakeTimers();
    const { url, requests } = await serveSite((request, response) => {
      if (request.url === '/half') response.writeHead(200, { ...VIDEO, 'content-length': 9 }).write('half');
    });
    const abort = new AbortController();
    const unlimited = { signal: abort.signal, firstByteTimeoutMs: 0, idleTimeoutMs: 0 };
    const iterator = (await take(`${url}/half`, unlimited)).body[Symbol.asyncIterator]();
    await iterator.next();
    const calls = [iterator.next(), take(url, unlimited)].map((call) => expect(call).rejects.toThrow('left'));
    expect(vi.getTimerCount()).toBe(0);
    abort.abort(new Error('left'));
    await Promise.all(calls);
    await Promise.all(requests.map(toClose));
  });

  it('closes the connection of a silent server at the deadline', async () => {
    const { url, requests } = await serveSite((request, response) => {
      if (request.url === '/half') response.writeHead(200, { ...VIDEO, 'content-length': 9 }).write('half');
    });
    const late = { kind: 'timeout', message: 'vendor: sent nothing for 1 ms' };
    expect(await failure(take(url, { firstByteTimeoutMs: 1 }))).toMatchObject(late);
    const { signal } = new AbortController();
    const { body } = await take(`${url}/half`, { idleTimeoutMs: 1, signal });
    const iterator = body[Symbol.asyncIterator]();
    const read = async (): Promise<void> => {
      while ((await iterator.next()).done !== true);
    };
    expect(await failure(read())).toMatchObject(late);
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await Promise.all(requests.map(toClose));
  });

  it('is an error where the connection breaks', async () => {
    const { url } = await serveSite((_request, response) => {
      response.writeHead(200, { ...VIDEO, 'content-length': 9 }).write('half', () => response.destroy());
    });
    const iterator = (await take(url)).body[Symbol.asyncIterator]();
    await iterator.next();
    expect(await failure(iterator.next())).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/^vendor: /),
    });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it.each([
    ['before the answer', '/silent', 1],
    ['while its error is read', '/refused', 2],
  ])('comes with the signal %s', async (_title, path, steps) => {
    const { url, requests } = await serveSite((request, response) => {
      if (request.url === '/refused') response.writeHead(404).write('half');
    });
    const abort = new AbortController();
    const { signal } = abort;
    const add = signal.addEventListener.bind(signal);
    let listeners = 0;
    // The request listens first, then the body.
    const reached = new Promise<void>((resolve) => {
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners += 1;
        add(...args);
        if (listeners === steps) resolve();
      };
    });
    const call = expect(take(url + path, { signal })).rejects.toThrow('left');
    await reached;
    abort.abort(new Error('left'));
    await call;
    await Promise.all(requests.map(toClose));
  });

  it('comes with the beginning of an endless error', async () => {
    const { url, requests } = await serveSite(endless(500, { 'content-type': 'text/plain' }));
    expect(await failure(take(url))).toMatchObject({ kind: 'failed', status: 500 });
    await toClose(requests[0]);
    expect(requests[0]?.socket.destroyed).toBe(true);
  });

  it('does not change with a later abort', async () => {
    const { url } = await serveSite((request, response) => {
      if (request.url === '/whole') response.writeHead(200, VIDEO).end();
      else response.writeHead(200, { ...VIDEO, 'content-length': 9 }).write('half', () => response.destroy());
    });
    for (const path of ['/whole', '/broken']) {
      const abort = new AbortController();
      const { body } = await take(url + path, { signal: abort.signal });
      const iterator = body[Symbol.asyncIterator]();
      const read = async (): Promise<void> => {
        while ((await iterator.next()).done !== true);
      };
      if (path === '/whole') await read();
      else expect((await failure(read())).kind).toBe('failed');
      abort.abort(new Error('left'));
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    }
  });

  it('is quiet after the reader has left', async () => {
    const { url, requests } = await serveSite(endless(200, VIDEO));
    const abort = new AbortController();
    const { body } = await take(url, { signal: abort.signal });
    abort.abort(new Error('left'));
    await toClose(requests[0]);
    await expect(body[Symbol.asyncIterator]().next()).rejects.toThrow('left');
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });
});
