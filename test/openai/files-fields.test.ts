import { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { createOpenAIApp, readError } from './support.ts';

const SCOPES = ['ai:chat', 'files:read', 'files:write'] as const;

async function createFilesApp() {
  const app = await createOpenAIApp({ key: { scopes: SCOPES } });
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
});
