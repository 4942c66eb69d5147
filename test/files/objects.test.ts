import { setImmediate as turn } from 'node:timers/promises';
import { toFetchHandler } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import type { ObjectStore } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../support/test-app.ts';

const MINUTE_MS = 60_000;
const TERMS = { key: 'test/1', contentType: 'text/plain', size: 5 };

/** An object of five bytes and a signed link to it. */
async function setUp(change: (objects: ObjectStore) => Partial<ObjectStore> = () => ({})) {
  const memory = createMemoryObjects();
  const app = await createTestApp({ objects: { ...memory, ...change(memory) } });
  await memory.put(TERMS.key, Buffer.from('hello'), { contentType: 'text/plain' });
  const { objectLinks } = app.services;
  const expiresAt = app.clock.now() + MINUTE_MS;
  const link = (await objectLinks.get(TERMS.key, { expiresAt }, '')) ?? '';
  const read = async (headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await app.ask(method, link, { credential: null, headers });
    return {
      answer,
      status: answer.status,
      text: await answer.text(),
      range: answer.headers.get('content-range'),
    };
  };
  const put = async (body: string, headers: Record<string, string>) => {
    const { url } = await objectLinks.put({ ...TERMS, expiresAt }, '');
    return (await app.ask('PUT', url, { credential: null, body, headers })).status;
  };
  const post = async (parts: readonly (readonly [string, string])[]) => {
    const { fields } = await objectLinks.post({ ...TERMS, expiresAt }, '');
    const form = new FormData();
    for (const [name, value] of [...Object.entries(fields), ...parts]) form.append(name, value);
    const request = new Request('http://questline.test/api/v1/objects', { method: 'POST', body: form });
    return (await toFetchHandler(app.api)(request))?.status;
  };
  return { app, memory, link, read, put, post };
}

describe('a link to an object', () => {
  it('answers with its bytes, or with a part of them', async () => {
    const { read } = await setUp();
    const { answer, text } = await read();
    expect([answer.status, text, answer.headers.get('content-length')]).toEqual([200, 'hello', '5']);
    const part = await read({ Range: 'bytes=1-2' });
    expect(part).toMatchObject({ status: 206, text: 'el', range: 'bytes 1-2/5' });
    expect(part.answer.headers.get('content-length')).toBe('2');
    expect(await read({ Range: 'bytes=5-' })).toMatchObject({ status: 416, range: 'bytes */5' });
  });

  it('answers with a part only of the version that the client knows', async () => {
    const { read } = await setUp();
    const etag = (await read()).answer.headers.get('etag') ?? '';
    const known = await read({ Range: 'bytes=1-2', 'If-Range': etag });
    expect(known).toMatchObject({ status: 206, text: 'el' });
    const other = await read({ Range: 'bytes=1-2', 'If-Range': '"other"' });
    expect(other).toMatchObject({ status: 200, text: 'hello' });
  });

  it('answers HEAD without reading the object', async () => {
    let reads = 0;
    const { read } = await setUp((objects) => ({
      get(...given) {
        reads += 1;
        return objects.get(...given);
      },
    }));
    const { answer, status, text } = await read({ Range: 'bytes=1-2' }, 'HEAD');
    expect([status, text, answer.headers.get('content-length')]).toEqual([206, '', '2']);
    expect(reads).toBe(0);
  });

  it('is read until its client leaves', async () => {
    const signals: unknown[] = [];
    const { read } = await setUp((objects) => ({
      head(key, options) {
        signals.push(options?.signal);
        return objects.head(key, options);
      },
      get(key, range, options) {
        signals.push(options?.signal);
        return objects.get(key, range, options);
      },
    }));
    expect((await read()).status).toBe(200);
    expect(signals).toEqual([expect.any(AbortSignal), expect.any(AbortSignal)]);
  });

  it.each(['gone', 'another'] as const)('is not found if the object is %s when it is read', async (kind) => {
    let closed = 0;
    const { read } = await setUp((objects) => ({
      async get(...given) {
        const content = await objects.get(...given);
        if (kind === 'gone' || content === undefined) return undefined;
        async function* body() {
          yield Buffer.from('other');
        }
        const returning = Object.assign(body(), {
          return: async () => {
            for (let turns = 0; turns < 20; turns += 1) await turn();
            closed += 1;
            return { done: true as const, value: undefined };
          },
        });
        return { ...content, etag: 'other', body: returning };
      },
    }));
    expect((await read()).status).toBe(404);
    expect(closed).toBe(kind === 'gone' ? 0 : 1);
  });

  it.each([
    [{}, 'text/plain', null],
    [{ contentType: 'image/png' }, 'image/png', null],
    [{ contentType: 'image/png', attachment: 'a.png' }, 'image/png', /^attachment; filename="a.png"/],
    [{ contentType: 'image/svg+xml' }, 'image/svg+xml', /^attachment; filename="download"/],
  ])('is shown, or is a download: %j', async (terms, type, disposition) => {
    const { app } = await setUp();
    const expiresAt = app.clock.now() + MINUTE_MS;
    const link = (await app.services.objectLinks.get(TERMS.key, { expiresAt, ...terms }, '')) ?? '';
    const { headers } = await app.ask('GET', link, { credential: null });
    const given = headers.get('content-disposition');
    if (disposition === null) expect(given).toBeNull();
    else expect(given).toMatch(disposition);
    expect(headers.get('content-type')).toBe(type);
    expect(headers.get('accept-ranges')).toBe('bytes');
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
  });

  it('is not found without the object', async () => {
    const { memory, read } = await setUp();
    await memory.remove(TERMS.key);
    expect((await read()).status).toBe(404);
  });

  it('is refused when it expires, or for another use', async () => {
    const { app, link, read } = await setUp();
    const used = await app.ask('PUT', link, { credential: null, body: 'hello' });
    expect(used.status).toBe(403);
    await app.clock.advance(MINUTE_MS);
    expect((await read()).status).toBe(403);
  });
});

describe('an upload to a link', () => {
  it('has the type and the length that were announced', async () => {
    const { put } = await setUp();
    const type = { 'Content-Type': 'text/plain' };
    expect(await put('hello', { 'Content-Type': ' Text/PLAIN ; charset=utf-8' })).toBe(204);
    expect(await put('hello', { 'Content-Type': 'text/html' })).toBe(400);
    expect(await put('hello!', { ...type, 'Content-Length': '6' })).toBe(413);
    expect(await put('hell', { ...type, 'Content-Length': '4' })).toBe(400);
  });

  it('is stored when it is answered, or refused without its bytes', async () => {
    const { memory, put } = await setUp();
    const type = { 'Content-Type': 'text/plain' };
    await memory.remove(TERMS.key);
    // The body has the announced length, other than its header.
    expect(await put('hello', { ...type, 'Content-Length': '6' })).toBe(413);
    expect(await put('hell', type)).toBe(400);
    expect(await memory.head(TERMS.key)).toBeUndefined();
    expect(await put('world', type)).toBe(204);
    expect(await memory.head(TERMS.key)).toMatchObject({ size: 5, contentType: 'text/plain' });
  });

  it('may be a form, whose fields come before the file', async () => {
    const { memory, post } = await setUp();
    await memory.remove(TERMS.key);
    expect(await post([['file', 'hello']])).toBe(204);
    expect(await memory.head(TERMS.key)).toMatchObject({ size: 5, contentType: 'text/plain' });
    expect(
      await post([
        ['size', '6'],
        ['file', 'hello!'],
      ]),
    ).toBe(413);
    expect(await post([])).toBe(400);
    expect(
      await post([
        ['other', 'x'.repeat(4096)],
        ['file', 'hello'],
      ]),
    ).toBe(204);
    expect(
      await post([
        ['other', 'x'.repeat(4097)],
        ['file', 'hello'],
      ]),
    ).not.toBe(204);
  });

  it('is refused if the link has expired', async () => {
    const { app, put, post } = await setUp();
    await app.clock.advance(MINUTE_MS);
    expect(await put('hello', { 'Content-Type': 'text/plain' })).toBe(403);
    expect(await post([['file', 'hello']])).toBe(403);
  });
});
