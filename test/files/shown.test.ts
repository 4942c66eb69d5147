import { FILES } from '@questline/core/internal';
import { createMemoryObjects } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import type { AnswerBody } from '../support/answers.ts';
import { createFileApp } from '../support/files.ts';

const MINUTE_MS = 60_000;

describe('a file', () => {
  const read = async <const Path extends string>(
    app: Awaited<ReturnType<typeof createFileApp>>,
    path: Path,
    credential?: string,
  ) => {
    const answer = await app.ask('GET', path, credential === undefined ? {} : { credential });
    return (await answer.json()) as AnswerBody<'GET', Path>;
  };

  it('has notes for those who may change it, and other fields for its readers', async () => {
    const app = await createFileApp({ moderator: null });
    const { id } = await app.upload('hello', { mime_type: 'image/png' });
    const path = `/api/v1/files/${id}` as const;
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
    expect(await read(app, `/api/files/${data[0]?.id}`, await app.token())).toMatchObject({
      file_name: 'a.txt',
    });
  });
});
