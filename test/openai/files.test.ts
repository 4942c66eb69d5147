import { toFile } from 'openai';
import { describe, expect, it, vi } from 'vitest';
import { NOW } from '../support/test-app.ts';
import { ASK, createOpenAIApp, readError } from './support.ts';

const SCOPES = ['ai:chat', 'files:read', 'files:write'] as const;

describe('files of the official SDK', () => {
  it('are uploaded, moderated, listed, read by a model, downloaded and deleted', async () => {
    const app = await createOpenAIApp({ started: true, key: { scopes: SCOPES } });
    const { files } = app.client;
    const file = await toFile(Buffer.from('The lake is deep.'), 'lake.txt', { type: 'text/plain' });
    const made = await files.create({ file, purpose: 'user_data' });
    expect(made).toMatchObject({ object: 'file', bytes: 17, filename: 'lake.txt', purpose: 'user_data' });
    await vi.waitFor(async () => expect((await files.retrieve(made.id)).status).toBe('processed'));
    await files.create({ file, purpose: 'assistants' });
    const ids: string[] = [];
    for await (const { id } of files.list({ limit: 1, order: 'asc' })) ids.push(id);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(made.id);
    expect(await (await files.content(made.id)).text()).toBe('The lake is deep.');
    const content = [{ type: 'file' as const, file: { file_id: made.id } }];
    await app.client.chat.completions.create({ ...ASK, messages: [{ role: 'user', content }] });
    expect(app.calls[0]?.request.messages[0]?.content).toMatchObject([
      { type: 'document', name: 'lake.txt', mediaType: 'text/plain' },
    ]);
    expect(await files.delete(made.id)).toEqual({ id: made.id, object: 'file', deleted: true });
    await expect(files.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it('have the time of their upload in whole seconds', async () => {
    const app = await createOpenAIApp({ key: { scopes: SCOPES }, now: NOW + 1999 });
    const file = await toFile(Buffer.from('The lake is deep.'), 'lake.txt', { type: 'text/plain' });
    const made = await app.client.files.create({ file, purpose: 'user_data' });
    expect(made.created_at).toBe(NOW / 1000 + 1);
    expect((await app.client.files.retrieve(made.id)).created_at).toBe(NOW / 1000 + 1);
  });

  it.each([
    ['not moderated yet', 'uploaded', 'file_not_ready', false],
    ['blocked', 'error', 'file_blocked', true],
  ])('that are %s have no content, and no client asks again', async (_title, status, code, started) => {
    const moderator = { check: async () => ({ isClean: false as const, reason: 'no' }) };
    const app = await createOpenAIApp({ started, moderator, key: { scopes: SCOPES } });
    let requests = 0;
    const { files } = app.connect({
      maxRetries: 3,
      fetch(...asked) {
        requests += 1;
        return fetch(...asked);
      },
    });
    const file = await toFile(Buffer.from('The lake is deep.'), 'lake.txt', { type: 'text/plain' });
    const { id } = await files.create({ file, purpose: 'user_data' });
    await vi.waitFor(async () => expect((await app.client.files.retrieve(id)).status).toBe(status));
    requests = 0;
    await expect(files.content(id)).rejects.toMatchObject({ status: 400, code });
    expect(requests).toBe(1);
  });

  it('of another user are unknown, on every path and in messages', async () => {
    const app = await createOpenAIApp({ started: true, key: { scopes: SCOPES } });
    const file = await toFile(Buffer.from('secret'), 'a.txt', { type: 'text/plain' });
    const { id } = await app.client.files.create({ file, purpose: 'user_data' });
    await vi.waitFor(async () => expect((await app.client.files.retrieve(id)).status).toBe('processed'));
    const stranger = await app.addUser('eve@example.com');
    const { key } = await app.issue({ userId: stranger.id, scopes: SCOPES });
    const headers = { Authorization: `Bearer ${key}` };
    for (const [method, path] of [
      ['GET', `/files/${id}`],
      ['GET', `/files/${id}/content`],
      ['DELETE', `/files/${id}`],
    ] as const) {
      const theirs = await app.send(method, path, undefined, headers);
      const none = await app.send(method, path.replace(id, 'f'.repeat(24)), undefined, headers);
      expect([theirs.status, none.status]).toEqual([404, 404]);
      expect(await readError(theirs)).toEqual(await readError(none));
    }
    const list = await app.send('GET', '/files', undefined, headers);
    expect(await list.json()).toMatchObject({ data: [], has_more: false });
    const after = await app.send('GET', `/files?after=${id}`, undefined, headers);
    expect(after.status).toBe(400);
    const content = [{ type: 'file', file: { file_id: id } }];
    const asked = await app.send(
      'POST',
      '/chat/completions',
      { ...ASK, messages: [{ role: 'user', content }] },
      headers,
    );
    expect(asked.status).toBe(400);
    expect((await readError(asked)).param).toBe('messages[0].content[0].file.file_id');
    expect((await app.client.files.retrieve(id)).status).toBe('processed');
  });
});
