import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { type ConnectionOptions, createUpstream, type UpstreamCall } from '../src/http/upstream.ts';
import { failure } from './collect.ts';
import { later } from './set-up.ts';
import { serveSite, serveText, toClose } from './web-site.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const CALL: UpstreamCall = { path: '/x', headers: ['x-key', 'k'], key: 'k', signal: undefined };

function open(baseUrl: string, options: ConnectionOptions = {}) {
  const upstream = createUpstream('vendor', baseUrl, () => ({}), options);
  later(() => upstream.close());
  return upstream;
}

describe('request to a provider', () => {
  it('has the path of the address before its own, and its query behind', async () => {
    const { url, requests } = await serveText('{}', JSON_TYPE);
    const upstream = open(`${url}/v1//?version=7`);
    await upstream.json({ ...CALL, body: '[]' });
    await upstream.json({ ...CALL, path: '/y?a=1', method: 'GET' });
    await open(url).json(CALL);
    expect(requests.map((request) => `${request.method} ${request.url}`)).toEqual([
      'POST /v1/x?version=7',
      'GET /v1/y?a=1&version=7',
      'POST /x',
    ]);
    expect(requests[0]?.headers).toMatchObject({ 'x-key': 'k', 'content-length': '2' });
  });

  it('is not made with a signal that is aborted, or a key that no header can contain', async () => {
    const { url, requests } = await serveText('{}', JSON_TYPE);
    const upstream = open(url);
    const signal = AbortSignal.abort(new Error('left'));
    await expect(upstream.json({ ...CALL, signal })).rejects.toThrow('left');
    for (const key of ['a b', 'é', 'a\n', ' ', '\x7f']) {
      expect(await failure(upstream.json({ ...CALL, key }))).toMatchObject({
        kind: 'rejected_key',
        message: 'vendor: the key holds characters that no key has',
      });
    }
    expect(requests).toEqual([]);
    expect(await upstream.json({ ...CALL, key: '' })).toEqual({});
    expect(await upstream.json({ ...CALL, key: '!~' })).toEqual({});
  });

  it('waits for a connection where all are in use', async () => {
    const { url, requests } = await serveSite((request, response) => {
      if (request.url !== '/hang') response.writeHead(200, JSON_TYPE).end('{}');
    });
    const upstream = open(url, { connections: 1 });
    const abort = new AbortController();
    const calls = ['/hang', '/second'].map((path) =>
      expect(upstream.json({ ...CALL, path, signal: abort.signal })).rejects.toThrow('left'),
    );
    await open(url).json({ ...CALL, path: '/other' });
    await open(url).json({ ...CALL, path: '/other' });
    expect(requests.map((request) => request.url).toSorted()).toEqual(['/hang', '/other', '/other']);
    abort.abort(new Error('left'));
    await Promise.all(calls);
  });

  it('fails after the provider is closed, which may be closed twice', async () => {
    const upstream = open((await serveText('{}', JSON_TYPE)).url);
    await upstream.json(CALL);
    await upstream.close();
    await upstream.close();
    expect((await failure(upstream.json(CALL))).kind).toBe('failed');
  });

  it('leaves a connection that closes after the time of the options, which may be 0', async () => {
    for (const keepAliveMs of [0, 1]) {
      const server = createServer((_request, response) => response.writeHead(200, JSON_TYPE).end('{}'));
      // The server's own hint would count instead.
      server.keepAliveTimeout = 0;
      const closed = new Promise<void>((resolve) =>
        server.on('connection', (socket) => socket.on('close', () => resolve())),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      later(async () => server.close());
      const { port } = server.address() as AddressInfo;
      await open(`http://127.0.0.1:${port}`, { keepAliveMs }).json(CALL);
      await closed;
    }
  });

  it.each(['firstByteTimeoutMs', 'connectTimeoutMs', 'idleTimeoutMs', 'keepAliveMs'])(
    'has times of whole milliseconds below 2^31: %s',
    (name) => {
      for (const time of [-1, 0.5, Number.NaN, 2 ** 31]) {
        expect(() => open('http://127.0.0.1', { [name]: time })).toThrow(
          new RangeError(`${name} must be whole milliseconds, from 0 to 2147483647`),
        );
      }
      for (const time of [0, 1, 2 ** 31 - 1]) open('http://127.0.0.1', { [name]: time });
    },
  );
});

describe('answer of a provider', () => {
  const ask = async (how: 'json' | 'job' | 'bytes', body: string, type: string | undefined, status = 200) => {
    const { url } = await serveText(body, type === undefined ? {} : { 'content-type': type }, status);
    return open(url)[how](CALL);
  };

  it.each(['application/json', 'application/problem+json', undefined])(
    'is JSON with the type %s',
    async (type) => {
      expect(await ask('json', '{"a":1}', type)).toEqual({ a: 1 });
      expect(await ask('job', '7', type)).toBe(7);
    },
  );

  it('is JSON in no other type, with no other text, and no other status', async () => {
    for (const how of ['json', 'job'] as const) {
      for (const type of ['text/html', 'text/plain']) {
        expect((await failure(ask(how, '{}', type))).kind).toBe('malformed_answer');
      }
      expect((await failure(ask(how, '{', 'application/json'))).kind).toBe('malformed_answer');
    }
    expect((await failure(ask('json', '', undefined))).kind).toBe('malformed_answer');
    expect((await failure(ask('json', '{}', undefined, 201))).kind).toBe('malformed_answer');
    expect((await failure(ask('bytes', 'x', 'audio/mpeg', 201))).kind).toBe('malformed_answer');
  });

  it.each([
    [201, '{"id":1}', { id: 1 }],
    [202, '', undefined],
    [204, '', undefined],
    [299, '0', 0],
  ])('of a job may have status %i with the body %j', async (status, body, value) => {
    expect(await ask('job', body, undefined, status)).toEqual(value);
  });

  it.each(['audio/mpeg', 'text/plain'])('is bytes with its type %s', async (type) => {
    expect(await ask('bytes', 'ab', type)).toEqual({ contentType: type, data: Buffer.from('ab') });
  });

  it('is bytes without a type, but neither JSON nor a page', async () => {
    expect(await ask('bytes', 'ab', undefined)).toEqual({ contentType: '', data: Buffer.from('ab') });
    for (const type of ['application/json', 'text/html; charset=utf-8']) {
      expect((await failure(ask('bytes', '{}', type))).kind).toBe('malformed_answer');
    }
  });

  it('has at most 64 MiB', async () => {
    const whole = await serveText(Buffer.alloc(2 ** 26));
    expect((await open(whole.url).bytes(CALL)).data.length).toBe(2 ** 26);
    const { url, requests } = await serveText(Buffer.alloc(2 ** 26 + 1));
    expect(await failure(open(url).bytes(CALL))).toMatchObject({
      kind: 'failed',
      message: 'vendor: answered more than 67108864 bytes',
    });
    await toClose(requests[0]);
  });
});

describe('time of an answer of a provider', () => {
  const half = () =>
    serveSite((request, response) => {
      if (request.url !== '/silent') response.writeHead(200, { 'content-length': 9 }).write('half');
    });

  it('is limited until its first byte', async () => {
    const upstream = open((await half()).url, { firstByteTimeoutMs: 50 });
    const call = { ...CALL, path: '/silent' };
    const failures = [
      upstream.json(call),
      upstream.job(call),
      upstream.bytes(call),
      upstream.stream(call, () => ({ event: () => false, end: () => undefined })),
      upstream.download(call, '/silent'),
    ].map(failure);
    for (const error of await Promise.all(failures)) {
      expect(error).toMatchObject({ kind: 'timeout', message: 'vendor: sent nothing for 50 ms' });
    }
  });

  it('is limited between two reads', async () => {
    const upstream = open((await half()).url, { idleTimeoutMs: 50 });
    expect((await failure(upstream.bytes(CALL))).kind).toBe('timeout');
    const { body } = await upstream.download(CALL, '/half');
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    expect((await failure(iterator.next())).kind).toBe('timeout');
  });
});

describe('download of a provider', () => {
  it('has the key at its own address, below its path', async () => {
    const { url, requests } = await serveText('video', { 'content-type': 'video/mp4' });
    const upstream = open(`${url}/v1?version=7`);
    for (const place of ['/files/1?a=1', new URL(`${url}/other`)]) {
      const { body } = await upstream.download(CALL, place);
      for await (const piece of body) expect(Buffer.from(piece).toString()).toBe('video');
    }
    expect(requests.map((request) => [request.url, request.headers['x-key']])).toEqual([
      ['/v1/files/1?a=1&version=7', 'k'],
      ['/other', 'k'],
    ]);
  });

  it('is made from addresses that the options permit', async () => {
    const checked: string[] = [];
    const isAllowedAddress = (address: string): boolean => {
      checked.push(address);
      return false;
    };
    const upstream = open('http://127.0.0.1:9', { isAllowedAddress });
    const download = upstream.download(CALL, new URL('https://192.0.2.1/video'));
    expect(await failure(download)).toMatchObject({
      kind: 'failed',
      message: 'vendor: url: this address is not on the open internet.',
    });
    expect(checked).toEqual(['192.0.2.1']);
  });

  it('is not made with a signal that is aborted, or a key that no header can contain', async () => {
    const upstream = open('http://127.0.0.1:9');
    const signal = AbortSignal.abort(new Error('left'));
    await expect(upstream.download({ ...CALL, signal }, '/x')).rejects.toThrow('left');
    expect((await failure(upstream.download({ ...CALL, key: 'a b' }, '/x'))).kind).toBe('rejected_key');
  });
});
