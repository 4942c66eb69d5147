import { FILES } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import type { ObjectStore } from '@questline/core/ports';
import { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { createOpenAIApp, readError } from './support.ts';
import { createFailingStore } from './support-failing-store.ts';

const SCOPES = ['ai:chat', 'files:read', 'files:write'] as const;

async function createFilesApp(options: Parameters<typeof createOpenAIApp>[0] = {}) {
  const app = await createOpenAIApp({ key: { scopes: SCOPES }, ...options });
  const upload = async (name: string, purpose: 'user_data' | 'vision' = 'user_data') =>
    app.client.files.create({ file: await toFile(Buffer.from(name), name, { type: 'text/plain' }), purpose });
  const sendForm = (fields: Readonly<Record<string, string | File>>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    const headers = { Authorization: `Bearer ${app.key}` };
    return fetch(`${app.baseURL}/files`, { method: 'POST', headers, body: form });
  };
  return { app, upload, sendForm };
}

describe('list of files', () => {
  it('is read page by page, in both orders', async () => {
    const { app, upload } = await createFilesApp();
    const ids: string[] = [];
    for (const name of ['a.txt', 'b.txt', 'c.txt']) {
      ids.push((await upload(name)).id);
      app.clock.advance(1000);
    }
    const [a, b, c] = ids;
    const list = async (query: string) => {
      const response = await app.send('GET', `/files${query}`);
      expect(response.status).toBe(200);
      const { data, ...page } = (await response.json()) as { data: { id: string }[] };
      return { ...page, ids: data.map(({ id }) => id) };
    };
    const page = (pageIds: unknown[], hasMore: boolean) => ({
      object: 'list',
      has_more: hasMore,
      first_id: pageIds[0] ?? null,
      last_id: pageIds.at(-1) ?? null,
      ids: pageIds,
    });
    expect(await list('')).toEqual(page([c, b, a], false));
    expect(await list('?order=asc')).toEqual(page([a, b, c], false));
    expect(await list('?limit=2')).toEqual(page([c, b], true));
    expect(await list(`?limit=2&after=${b}`)).toEqual(page([a], false));
    expect(await list('?order=asc&limit=3')).toEqual(page([a, b, c], false));
    expect(await list(`?after=${a}`)).toEqual(page([], false));
  });

  it('is not read as a whole for one page', async () => {
    const failing = createFailingStore();
    const { app } = await createFilesApp({ store: failing.wrap });
    const hasNoLimit = ([, options]: readonly unknown[]) =>
      (options as { readonly limit?: number } | undefined)?.limit === undefined;
    failing.failOnce(FILES, 'find', new Error('all files are read'), hasNoLimit);
    expect((await app.send('GET', '/files?limit=2')).status).toBe(200);
  });

  it.each(['none', 'f'.repeat(24)])('has no page after %s', async (after) => {
    const { app } = await createFilesApp();
    const response = await app.send('GET', `/files?after=${after}`);
    expect([response.status, (await readError(response)).param]).toEqual([400, 'after']);
  });
});

describe('upload of a file', () => {
  const FILE = new File(['text'], 'a.txt', { type: 'text/plain' });

  it.each<[string, Record<string, string | File>, string, string]>([
    ['no purpose', { file: FILE }, 'purpose', 'is required'],
    ['another purpose', { file: FILE, purpose: 'fine-tune' }, 'purpose', 'expected one of assistants'],
    ['no file', { purpose: 'vision' }, 'file', 'is required'],
    ['a file of another name', { purpose: 'vision', other: FILE }, 'file', 'is required'],
  ])('is refused with %s', async (_title, fields, param, words) => {
    const { sendForm } = await createFilesApp();
    const response = await sendForm(fields);
    const error = await readError(response);
    expect([response.status, error.param]).toEqual([400, param]);
    expect(error.message).toContain(words);
  });

  it('has its purpose, and a name of at most 255 characters', async () => {
    const { upload, app } = await createFilesApp();
    const made = await upload(`${'a'.repeat(300)}.txt`, 'vision');
    expect(made).toMatchObject({
      object: 'file',
      purpose: 'vision',
      filename: 'a'.repeat(255),
      status: 'uploaded',
    });
    expect(await app.client.files.retrieve(made.id)).toMatchObject({ purpose: 'user_data', bytes: 304 });
  });

  it('keeps the type of the file, also without bytes', async () => {
    const { app, sendForm } = await createFilesApp();
    const file = new File([], 'a.csv', { type: 'text/csv' });
    const response = await sendForm({ purpose: 'user_data', file });
    const made = (await response.json()) as { id: string };
    expect([response.status, made]).toMatchObject([200, { filename: 'a.csv', bytes: 0 }]);
    const { body } = await app.json('GET', `/api/v1/files/${made.id}`);
    expect(body).toMatchObject({ mime_type: 'text/csv' });
  });

  it('has a name if the client gives none', async () => {
    const { app } = await createFilesApp();
    const parts = [
      ['name="purpose"', 'user_data'],
      ['name="file"; filename=""', 'text'],
    ].map(([about, content]) => `--b\r\nContent-Disposition: form-data; ${about}\r\n\r\n${content}\r\n`);
    const response = await fetch(`${app.baseURL}/files`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${app.key}`,
        'Content-Type': 'multipart/form-data; boundary=b',
      },
      body: `${parts.join('')}--b--\r\n`,
    });
    expect([response.status, await response.json()]).toMatchObject([200, { filename: 'file', bytes: 4 }]);
  });

  it('names the field if the storage of the user is full', async () => {
    const { sendForm } = await createFilesApp({ settings: { files: { storageQuota: 3 } } });
    const response = await sendForm({ purpose: 'user_data', file: FILE });
    const error = await readError(response);
    expect([response.status, error.param, error.message]).toEqual([
      400,
      'file',
      'file: the storage quota is used up',
    ]);
  });

  it('may be tried again if the file could not be stored', async () => {
    const signals: unknown[] = [];
    const put: ObjectStore['put'] = async (_key, _content, _about, options) => {
      signals.push(options?.signal);
      throw new Error('disk');
    };
    const { sendForm, app } = await createFilesApp({ objects: { ...createMemoryObjects(), put } });
    const response = await sendForm({ purpose: 'user_data', file: FILE });
    expect(response.status).toBe(503);
    expect(app.incidents[0]).toMatchObject({ operation: 'files.save' });
    expect(signals).toEqual([expect.any(AbortSignal)]);
  });

  it('of a type that is not known is moderated like others', async () => {
    const { sendForm } = await createFilesApp();
    const response = await sendForm({ purpose: 'user_data', file: new File(['text'], 'a.txt') });
    expect([response.status, await response.json()]).toMatchObject([200, { filename: 'a.txt' }]);
  });
});

describe('content of a file', () => {
  it('is a download that no browser opens', async () => {
    const app = await createOpenAIApp({ started: true, key: { scopes: SCOPES } });
    const file = await toFile(Buffer.from('text'), 'a b.txt', { type: 'text/plain' });
    const { id } = await app.client.files.create({ file, purpose: 'user_data' });
    for (let look = 0; (await app.client.files.retrieve(id)).status !== 'processed' && look < 50; look += 1) {
      await app.settle();
    }
    const response = await app.send('GET', `/files/${id}/content`);
    expect([response.status, await response.text()]).toEqual([200, 'text']);
    const names = ['content-type', 'content-disposition', 'x-content-type-options'];
    expect(names.map((name) => response.headers.get(name))).toEqual([
      'application/octet-stream',
      expect.stringContaining('a b.txt'),
      'nosniff',
    ]);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment/);
    expect((await app.send('GET', `/files/${id}`)).status).toBe(200);
  });

  it('is not found if its bytes are lost', async () => {
    const objects = createMemoryObjects();
    let isLost = false;
    const signals: unknown[] = [];
    const get: ObjectStore['get'] = async (key, range, options) => {
      if (!isLost) return objects.get(key, range, options);
      signals.push(options?.signal);
      return undefined;
    };
    const { app, upload } = await createFilesApp({ objects: { ...objects, get } });
    const { id } = await upload('a.txt');
    for (let look = 0; (await app.client.files.retrieve(id)).status !== 'processed' && look < 50; look += 1) {
      await app.settle();
    }
    isLost = true;
    const response = await app.send('GET', `/files/${id}/content`);
    expect([response.status, (await readError(response)).message]).toEqual([404, 'File not found']);
    // A client that leaves stops the reading.
    expect(signals).toEqual([expect.any(AbortSignal)]);
  });

  it('stays if its deletion fails', async () => {
    const failing = createFailingStore();
    const { app, upload } = await createFilesApp({ store: failing.wrap });
    const { id } = await upload('a.txt');
    failing.failOnce(FILES, 'take', new Error('store'));
    expect((await app.send('DELETE', `/files/${id}`)).status).toBe(500);
    expect((await app.send('GET', `/files/${id}`)).status).toBe(200);
  });

  it('is gone with the file, for its owner only', async () => {
    const { app, upload } = await createFilesApp();
    const { id } = await upload('a.txt');
    const stranger = await app.addUser('eve@example.com');
    const { key } = await app.issue({ userId: stranger.id, scopes: SCOPES });
    const theirs = await app.send('DELETE', `/files/${id}`, undefined, { Authorization: `Bearer ${key}` });
    expect(theirs.status).toBe(404);
    const deleted = await app.send('DELETE', `/files/${id}`);
    expect([deleted.status, await deleted.json()]).toEqual([200, { id, object: 'file', deleted: true }]);
    expect((await app.send('GET', `/files/${id}`)).status).toBe(404);
  });

  it('stays readable for a user whom its owner has shown it', async () => {
    const { app, upload } = await createFilesApp();
    const { id } = await upload('a.txt');
    const reader = await app.addUser('eve@example.com');
    await app.services.store.collection(FILES).update(id, { readerIds: [reader.id] });
    const { key } = await app.issue({ userId: reader.id, scopes: SCOPES });
    const headers = { Authorization: `Bearer ${key}` };
    expect((await app.send('DELETE', `/files/${id}`, undefined, headers)).status).toBe(404);
    expect(await app.services.store.collection(FILES).get(id)).toMatchObject({ readerIds: [reader.id] });
  });
});
