import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, createClient, type Progress, progress, upload } from '@questline/client';
import * as operations from '@questline/client/operations';
import { toNodeListener } from '@questline/core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFileApp, type FileApp } from '../../../test/support/files.ts';
import { createAppClient, createAppFetch, createScriptedClient, json } from './support.ts';

const TEXT = new Blob(['twelve bytes'], { type: 'text/plain' });
const OFFLINE = new TypeError('fetch failed');

async function createApp(): Promise<FileApp> {
  const app = await createFileApp();
  onTestFinished(() => app.api.close());
  return app;
}

/** A client over HTTP, and the headers of all uploads. */
async function connect(app: FileApp) {
  const uploads: (string | undefined)[] = [];
  const listener = toNodeListener(app.api);
  const server = createServer((request, response) => {
    if (request.method === 'PUT') uploads.push(request.headers['content-length']);
    listener(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = createClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credential: app.key,
    wait: async (ms, signal) => {
      signal?.throwIfAborted();
      await app.clock.advance(ms);
    },
  });
  return { client, uploads };
}

/** A client whose uploads fail, each in its own way; the last one repeats. */
function createFailing(
  app: FileApp,
  failures: readonly ((put: () => Promise<Response>) => Promise<Response>)[],
) {
  const send = createAppFetch(app);
  let puts = 0;
  const client = createAppClient(app, {
    fetch: (url, init) => {
      const put = (): Promise<Response> => send(url, init);
      if (init.method !== 'PUT') return put();
      puts += 1;
      return failures[puts - 1]?.(put) ?? put();
    },
  });
  return { client, countPuts: () => puts };
}

describe('upload', () => {
  it('reports its progress over HTTP, and resolves when the file can be used', async () => {
    const app = await createApp();
    const { client, uploads } = await connect(app);
    const size = 3_000_000;
    const seen: Progress[] = [];
    const file = new File(['x'.repeat(size)], 'a.txt', { type: 'text/plain' });
    const stored = await upload(client, file, { onProgress: (step) => seen.push(step) });
    expect(stored).toMatchObject({ file_name: 'a.txt', file_size: size, moderation_status: 'clean' });
    expect(stored.download_url).toMatch(/^\//);
    expect(uploads).toEqual([String(size)]);
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.map(({ loaded }) => loaded)).toEqual(seen.map(({ loaded }) => loaded).sort((a, b) => a - b));
    expect(seen.at(-1)).toEqual({ loaded: size, total: size });
    const bytes = await client.call(operations.getObject, { link: stored.download_url ?? '' });
    expect((await bytes.arrayBuffer()).byteLength).toBe(size);
  });

  it('sends no credential with the bytes', async () => {
    const app = await createApp();
    const send = createAppFetch(app);
    const seen: (string | null)[] = [];
    const client = createAppClient(app, {
      headers: { 'x-tenant': 'a' },
      fetch(url, init) {
        const headers = new Headers(init.headers);
        if (init.method === 'PUT') seen.push(headers.get('authorization'), headers.get('x-tenant'));
        return send(url, init);
      },
    });
    await upload(client, TEXT);
    expect(seen).toEqual([null, null]);
  });

  it('rejects for a file that the check has blocked', async () => {
    const client = createAppClient(await createApp());
    const image = new Blob(['no image'], { type: 'image/png' });
    await expect(upload(client, image, { name: 'a.png' })).rejects.toMatchObject({
      code: 'file_blocked',
      body: { moderation_status: 'blocked' },
    });
  });

  it('repeats a transfer that broke off', async () => {
    const app = await createApp();
    const busy = async (): Promise<Response> => json({ error: 'busy' }, 409);
    const { client, countPuts } = createFailing(app, [() => Promise.reject(OFFLINE), busy]);
    expect(await upload(client, TEXT)).toMatchObject({ moderation_status: 'clean' });
    expect(countPuts()).toBe(3);
  });

  it('does not repeat a transfer whose answer is lost', async () => {
    const app = await createApp();
    const { client, countPuts } = createFailing(app, [
      async (put) => {
        await put();
        throw OFFLINE;
      },
    ]);
    expect(await upload(client, TEXT)).toMatchObject({ moderation_status: 'clean' });
    expect(countPuts()).toBe(1);
  });

  it('gives up after four transfers', async () => {
    const offline = (): Promise<Response> => Promise.reject(OFFLINE);
    const { client, countPuts } = createFailing(await createApp(), Array(9).fill(offline));
    await expect(upload(client, TEXT)).rejects.toMatchObject({ code: 'network_error' });
    expect(countPuts()).toBe(4);
  });

  it('does not repeat a transfer that the server refused', async () => {
    const refuse = async (): Promise<Response> => json({ error: 'expired' }, 403);
    const { client, countPuts } = createFailing(await createApp(), [refuse]);
    await expect(upload(client, TEXT)).rejects.toMatchObject({ status: 403 });
    expect(countPuts()).toBe(1);
  });

  it('can be aborted in the middle, and leaves nothing', async () => {
    const app = await createApp();
    const { client } = await connect(app);
    const controller = new AbortController();
    const reason = new Error('left');
    const file = new Blob(['x'.repeat(5_000_000)], { type: 'text/plain' });
    const onProgress = (): void => controller.abort(reason);
    await expect(upload(client, file, { signal: controller.signal, onProgress })).rejects.toBe(reason);
    const [left] = (await client.call(operations.listFiles)).data;
    expect(left).toMatchObject({ moderation_status: 'pending' });
  });
});

describe('progress', () => {
  it('counts the bytes of a form', async () => {
    let text = '';
    const seen: Progress[] = [];
    const { client } = createScriptedClient([], {
      async fetch(_, init) {
        const request = new Request('http://x', init as RequestInit);
        const file = (await request.formData()).get('file');
        text = file instanceof Blob ? await file.text() : '';
        return json({ text: 'Hello' });
      },
    });
    const transcribe = (target: Client) =>
      target.call(
        operations.transcribeAtOnce,
        { body: { file: new Blob(['bytes of a recording'], { type: 'audio/mpeg' }) } },
        { transport: progress((step) => seen.push(step)) },
      );
    expect(await transcribe(client)).toEqual({ text: 'Hello' });
    expect(text).toBe('bytes of a recording');
    expect(seen.at(-1)?.total).toBe(20);
    expect(seen.at(-1)?.loaded).toBeGreaterThan(20);
  });
});
