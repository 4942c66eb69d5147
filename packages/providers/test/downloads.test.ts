import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { MediaStream, ModelProvider } from '@questline/core/ports';
import { createXAIProvider } from '@questline/providers/xai';
import { createXAIUpstream, type ScriptSource } from '@questline/testing/upstreams';
import { describe, expect, test } from 'vitest';
import { type DownloadOptions, download } from '../src/http/download.ts';
import { Faults } from '../src/http/faults.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';
import { failure } from './collect.ts';
import { connect, later } from './set-up.ts';

const KEY = 'sk-platform-secret';
const VIDEO = Buffer.from('the bytes of a video');

interface Site {
  readonly url: string;
  readonly requests: IncomingMessage[];
}

async function site(scheme: 'http' | 'https', answer: RequestListener): Promise<Site> {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    answer(request, response);
  };
  const server =
    scheme === 'http'
      ? createServer(listener)
      : createSecureServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  later(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${scheme}://${scheme === 'http' ? '127.0.0.1' : 'localhost'}:${port}`, requests };
}

const video: RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'video/webm; codecs=vp9' }).end(VIDEO);
};

/** Fetches as a provider with the given `origin`, where every address is public. */
function take(
  address: string,
  origin: string,
  terms: Partial<DownloadOptions> = {},
  trusted: readonly string[] = [CERTIFICATE],
): Promise<MediaStream> {
  return download(new URL(address), {
    origin,
    headers: ['content-type', 'application/json', 'authorization', `Bearer ${KEY}`],
    signal: undefined,
    faults: new Faults('test', KEY, () => ({})),
    firstByteTimeoutMs: 10_000,
    idleTimeoutMs: 10_000,
    isAllowedAddress: () => true,
    ...(trusted[0] !== undefined && { authority: trusted[0] }),
    ...terms,
  });
}

async function toBytes({ body }: MediaStream): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

const redirect =
  (to: () => string): RequestListener =>
  (_request, response) => {
    response.writeHead(302, { location: to() }).end();
  };

describe('download from another host', () => {
  test('sends no credentials to that host', async () => {
    const { url, requests } = await site('https', video);
    const result = await take(`${url}/video?signature=1`, 'https://api.example.com');
    expect([result.mediaType, await toBytes(result)]).toEqual(['video/webm', VIDEO]);
    expect(requests[0]?.url).toBe('/video?signature=1');
    expect(requests[0]?.headers).toMatchObject({ accept: '*/*' });
    expect(requests[0]?.headers.authorization).toBeUndefined();
  });

  test('follows a redirect from its own host without the key', async () => {
    const other = await site('https', video);
    const own = await site(
      'http',
      redirect(() => `${other.url}/video`),
    );
    expect(await toBytes(await take(`${own.url}/content`, own.url))).toEqual(VIDEO);
    expect(own.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(other.requests[0]?.headers.authorization).toBeUndefined();
  });

  test('rejects an untrusted host', async () => {
    const { url, requests } = await site('https', video);
    const strangers = take(url, 'https://api.example.com', {}, []);
    expect((await failure(strangers)).kind).toBe('failed');
    expect(requests).toHaveLength(0);
  });

  test.each([401, 403, 404, 500])('reports status %i without the key', async (status) => {
    const { url } = await site('https', (_request, response) => response.writeHead(status).end('no'));
    expect((await failure(take(url, 'https://api.example.com'))).kind).toBe('failed');
  });

  test('requires https', async () => {
    const { url, requests } = await site('http', video);
    expect((await failure(take(url, 'https://api.example.com'))).kind).toBe('failed');
    const own = await site(
      'http',
      redirect(() => url),
    );
    expect((await failure(take(own.url, own.url))).kind).toBe('failed');
    expect(requests).toHaveLength(0);
  });

  test('limits redirects', async () => {
    const own = await site(
      'http',
      redirect(() => '/again'),
    );
    expect((await failure(take(own.url, own.url))).kind).toBe('failed');
    expect(own.requests).toHaveLength(6);
  });
});

describe('untrusted addresses of a provider', () => {
  const xai = (script: ScriptSource) => connect(createXAIUpstream, createXAIProvider, script, {});

  async function fetchFrom(provider: ModelProvider) {
    const id = (await provider.video?.submit(
      { model: 'm', prompt: 'x', durationSeconds: 4, aspectRatio: '16:9', resolution: '480p' },
      {},
    )) as string;
    const status = await provider.video?.poll(id, {});
    if (status?.state !== 'done') throw new Error('expected a failure');
    return provider.video?.fetch(status.output, {}) as Promise<MediaStream>;
  }

  test.each(['127.0.0.1', 'localhost', '[::1]', '10.0.0.1', '169.254.169.254', '[::ffff:127.0.0.1]'])(
    'rejects an address on %s',
    async (host) => {
      const { url, requests } = await site('https', video);
      const address = `https://${host}:${new URL(url).port}/video`;
      const { provider } = await xai({ video: { looks: 0, address } });
      const error = await failure(fetchFrom(provider));
      expect([error.kind, error.message]).toEqual(['failed', expect.stringContaining('open internet')]);
      expect(requests).toHaveLength(0);
    },
  );

  test.each(['ftp://example.com/video', 'http://example.com/video', 'file:///etc/passwd', 'video.mp4'])(
    'rejects an address like %s',
    async (address) => {
      const { provider } = await xai({ video: { looks: 0, address } });
      expect((await failure(fetchFrom(provider))).kind).toBe('failed');
    },
  );
});

describe('download of a provider result', () => {
  const endless = async (framing: Record<string, string>) => {
    let written = 0;
    let left: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      left = resolve;
    });
    const state = { blocked: false };
    const own = await site('http', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', ...framing });
      response.on('close', left);
      const more = () => {
        state.blocked = false;
        while (written < 64 * 2 ** 20) {
          written += 2 ** 16;
          if (!response.write(Buffer.alloc(2 ** 16))) {
            state.blocked = true;
            response.once('drain', more);
            return;
          }
        }
        response.end();
      };
      more();
    });
    return { own, gone, state, written: () => written };
  };

  test.each([
    ['of a known length', { 'content-length': String(64 * 2 ** 20) }],
    ['that closes its connection', { connection: 'close' }],
    ['in chunks', {}],
  ])('applies backpressure to %s and delivers it completely', async (_name, framing) => {
    const { own, state, written } = await endless(framing as Record<string, string>);
    const { body } = await take(own.url, own.url);
    const iterator = body[Symbol.asyncIterator]();
    let size = (await iterator.next()).value?.length ?? 0;
    while (!state.blocked) await turn();
    // The kernel buffers the difference.
    expect(written()).toBeLessThan(32 * 2 ** 20);
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next())
      size += step.value.length;
    expect(size).toBe(64 * 2 ** 20);
  });

  test('ends when it is returned without being read', async () => {
    const { own, gone } = await endless({});
    const { body } = await take(own.url, own.url);
    const iterator = body[Symbol.asyncIterator]();
    await iterator.return?.();
    await gone;
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  test('stops on abort, between steps and within one', async () => {
    const abort = new AbortController();
    const { own, gone } = await endless({});
    const { body } = await take(own.url, own.url, { signal: abort.signal });
    const iterator = body[Symbol.asyncIterator]();
    await iterator.next();
    abort.abort(new Error('gone'));
    await gone;
    await expect(iterator.next()).rejects.toThrow('gone');

    const second = new AbortController();
    const silent = await site('http', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).flushHeaders();
    });
    const waiting = await take(silent.url, silent.url, { signal: second.signal });
    const step = waiting.body[Symbol.asyncIterator]().next();
    second.abort(new Error('gone'));
    await expect(step).rejects.toThrow('gone');
    await expect(take(silent.url, silent.url, { signal: second.signal })).rejects.toThrow('gone');
  });

  test('times out while the server is silent, before and after the headers', async () => {
    const mute = await site('http', () => undefined);
    expect((await failure(take(mute.url, mute.url, { firstByteTimeoutMs: 50 }))).kind).toBe('timeout');
    const half = await site('http', (_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 100 }).write('half');
    });
    const reading = take(half.url, half.url, { idleTimeoutMs: 50 }).then(toBytes);
    expect((await failure(reading)).kind).toBe('timeout');
  });

  test.each(['application/json', 'text/html', 'text/plain'])('rejects %s as a video', async (type) => {
    const own = await site('http', (_request, response) => {
      response.writeHead(200, { 'content-type': type }).end('{}');
    });
    expect((await failure(take(own.url, own.url))).kind).toBe('malformed_answer');
  });

  test('reports the status of an error even if its body fails', async () => {
    const refuse = (isWhole: boolean) =>
      site('http', (_request, response) => {
        response.writeHead(429, { 'retry-after': '7' });
        if (isWhole) response.end(`slow down, ${KEY}`);
        else response.flushHeaders();
      });
    const whole = await refuse(true);
    const error = await failure(take(whole.url, whole.url));
    expect(error).toMatchObject({ kind: 'overloaded', retryAfterMs: 7000 });
    expect(error.message).toContain('slow down, [key]');
    const hanging = await refuse(false);
    expect(await failure(take(hanging.url, hanging.url, { idleTimeoutMs: 50 }))).toMatchObject({
      kind: 'overloaded',
      retryAfterMs: 7000,
    });
  });

  test('fails when no connection can be made', async () => {
    const own = await site('http', video);
    expect((await failure(take('http://127.0.0.1:1/video', 'http://127.0.0.1:1'))).kind).toBe('failed');
    expect(own.requests).toHaveLength(0);
  });
});
