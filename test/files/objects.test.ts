import { toFetchHandler } from '@questline/core';
import { createMemoryObjects } from '@questline/core/memory';
import type { ObjectStore } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { createFileApp } from '../support/files.ts';
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

describe('a file', () => {
  const read = async (app: Awaited<ReturnType<typeof createFileApp>>, path: string, credential?: string) => {
    const answer = await app.ask('GET', path, credential === undefined ? {} : { credential });
    // biome-ignore lint/suspicious/noExplicitAny: what came over the wire is looked at, not trusted.
    return (await answer.json()) as any;
  };

  it('has notes for those who may change it, and other fields for its readers', async () => {
    const app = await createFileApp({ moderator: null });
    const { id } = await app.upload('hello', { mime_type: 'image/png' });
    const path = `/api/v1/files/${id}`;
    await app.ask('PATCH', path, { body: { notes: 'mine' } });
    const createdAt = (await app.record(id))?.createdAt ?? 0;
    expect(await read(app, path)).toEqual({
      ...{ id, owner_id: app.user.id, file_name: 'a.txt', mime_type: 'image/png', file_size: 5 },
      ...{ moderation_status: 'clean', created_at: new Date(createdAt).toISOString(), notes: 'mine' },
      download_url: expect.stringContaining('/api/v1/objects?'),
      download_url_expires_at: new Date(app.clock.now() + 15 * MINUTE_MS).toISOString(),
    });
    const bob = await app.addUser('bob@example.com');
    const token = await app.token(bob);
    const { FILES } = await import('@questline/core/internal');
    const files = app.services.store.collection(FILES);
    await files.update(id, { readerIds: [bob.id] });
    expect(await read(app, path, token)).toMatchObject({ id, notes: null });
    expect((await read(app, '/api/v1/files?shared=true', token)).data).toMatchObject([
      { id, permission: 'read' },
    ]);
    await files.update(id, { writerIds: [bob.id] });
    expect(await read(app, path, token)).toMatchObject({ id, notes: 'mine' });
    expect((await read(app, '/api/v1/files?shared=true', token)).data).toMatchObject([
      { permission: 'write' },
    ]);
    expect((await read(app, '/api/v1/files', token)).data).toEqual([]);
  });

  it('is renamed without its notes, and the other way round', async () => {
    const app = await createFileApp({ moderator: null });
    const { id } = await app.announce({});
    const change = async (body: object) => (await app.ask('PATCH', `/api/v1/files/${id}`, { body })).json();
    expect(await change({ notes: 'mine' })).toMatchObject({ file_name: 'a.txt', notes: 'mine' });
    expect(await change({ file_name: 'b.txt' })).toMatchObject({ file_name: 'b.txt', notes: 'mine' });
    expect(await change({ notes: '' })).toMatchObject({ file_name: 'b.txt', notes: '' });
  });

  it('is announced with a link for ten minutes, within the quota', async () => {
    const app = await createFileApp({ settings: { files: { storageQuota: 5 } } });
    const body = { file_name: 'a', mime_type: 'Text/Plain', file_size: 6 };
    expect((await app.ask('POST', '/api/v1/files', { body })).status).toBe(400);
    const answer = await app.ask('POST', '/api/v1/files', { body: { ...body, file_size: 5 } });
    const { id, upload_url_expires_at } = (await answer.json()) as Record<string, string>;
    expect(upload_url_expires_at).toBe(new Date(app.clock.now() + 10 * MINUTE_MS).toISOString());
    const about = { status: 'pending', source: 'upload', mimeType: 'text/plain', size: 5, name: 'a' };
    const times = { createdAt: app.clock.now(), uploadUntil: app.clock.now() + 10 * MINUTE_MS };
    expect(await app.record(id ?? '')).toEqual({ id, ownerId: app.user.id, ...about, ...times });
  });

  it('is checked as soon as it is read, in a store that reports no uploads', async () => {
    const memory = createMemoryObjects();
    const signPut = async () => ({ url: 'https://store.test/1', fields: {}, expiresAt: 0 });
    const app = await createFileApp({ moderator: null, objects: { ...memory, signPut } });
    const { id, url } = await app.announce({});
    expect(url).toBe('https://store.test/1');
    expect(await app.show(id)).toMatchObject({ moderation_status: 'pending' });
    await memory.put(`uploads/${id}`, Buffer.from('hello'), { contentType: 'text/plain' });
    await app.settle();
    expect((await app.record(id))?.status).toBe('pending');
    await app.show(id);
    await app.until(async () => (await app.record(id))?.status === 'clean');
  });

  it('is found by older clients', async () => {
    const app = await createFileApp({ moderator: null });
    for (const file_name of ['a.txt', 'b.txt', 'ab.txt']) {
      await app.announce({ file_name });
      await app.clock.advance(1);
    }
    const names = async (query: string) => {
      const { data } = await read(app, `/api/files/search?${query}`, await app.token());
      return data.map(({ file_name }: { file_name: string }) => file_name);
    };
    expect(await names('')).toEqual(['a.txt', 'b.txt', 'ab.txt']);
    expect(await names('search=b')).toEqual(['b.txt', 'ab.txt']);
    const { data } = await read(app, '/api/files/search', await app.token());
    expect(await read(app, `/api/files/${data[0].id}`, await app.token())).toMatchObject({
      file_name: 'a.txt',
    });
  });
});
