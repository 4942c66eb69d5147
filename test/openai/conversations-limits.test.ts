import { CONVERSATION_ENTRIES, CONVERSATIONS, MAX_CONVERSATION_ITEMS } from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { reason } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp, readError } from './support.ts';
import { QUESTION } from './support-responses.ts';

const user = (content: string) => ({ role: 'user' as const, content });

async function list({ client }: OpenAIApp, id: string): Promise<readonly { id: string; type: string }[]> {
  const page = await client.conversations.items.list(id, { order: 'asc', limit: 100 });
  return page.data as { id: string; type: string }[];
}

async function create({ client }: OpenAIApp): Promise<string> {
  return (await client.conversations.create()).id;
}

describe('conversations of another user', () => {
  it('are unknown, in every operation', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.conversations.create({ items: [user('a')] });
    const [item] = await list(app, id);
    const stranger = await app.addUser('eve@example.com');
    const { key } = await app.issue({ userId: stranger.id, scopes: ['ai:chat'] });
    const unknown = `conv_${'f'.repeat(24)}`;
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', { metadata: { a: 'b' } }],
      ['DELETE', '', undefined],
      ['GET', '/items', undefined],
      ['POST', '/items', { items: [user('b')] }],
      ['GET', `/items/${item?.id}`, undefined],
      ['DELETE', `/items/${item?.id}`, undefined],
      ['RESPOND', '', undefined],
    ] as const) {
      const ask = async (which: string) => {
        const headers = { Authorization: `Bearer ${key}` };
        const answer =
          method === 'RESPOND'
            ? await app.send('POST', '/responses', { ...QUESTION, conversation: which }, headers)
            : await app.send(method, `/conversations/${which}${path}`, body, headers);
        const { message, ...error } = await readError(answer);
        return { status: answer.status, error, message: String(message).replace(which, 'ID') };
      };
      const foreign = await ask(id);
      expect(foreign).toMatchObject({ status: 404, error: { type: 'invalid_request_error' } });
      expect(foreign).toEqual(await ask(unknown));
    }
    expect(app.calls).toHaveLength(0);
    expect(await list(app, id)).toEqual([item]);
    const own = await app.client.conversations.create();
    const path = `/conversations/${own.id}/items/${item?.id}`;
    expect((await app.send('GET', path)).status).toBe(404);
    expect((await app.send('DELETE', path)).status).toBe(404);
    expect(await list(app, id)).toEqual([item]);
  });
});

describe('the limits of conversations', () => {
  it.each([
    [{ items: Array.from({ length: 21 }, () => user('a')) }, 'items'],
    [{ items: [{ type: 'compaction', encrypted_content: 'x' }] }, 'items[0].type'],
    [{ items: [{ type: 'item_reference', id: 'msg_1' }] }, 'items[0].id'],
    [{ items: [{ role: 'robot', content: 'a' }] }, 'items[0].role'],
    [{ metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, 'v'])) }, 'metadata'],
  ])('name the field: %#', async (body, param) => {
    const app = await createOpenAIApp();
    const refused = await app.send('POST', '/conversations', body);
    expect([refused.status < 500, (await readError(refused)).param]).toEqual([true, param]);
    expect(await app.services.store.collection(CONVERSATIONS).count({})).toBe(0);
  });

  it('are exact under concurrency, and refuse a response before it is paid', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const id = await create(app);
    const conversations = app.services.store.collection(CONVERSATIONS);
    await conversations.update(id.slice(5), { items: MAX_CONVERSATION_ITEMS - 2 });
    const added = await Promise.all(
      Array.from({ length: 4 }, () => app.send('POST', `/conversations/${id}/items`, { items: [user('a')] })),
    );
    expect(added.map(({ status }) => status).sort()).toEqual([200, 200, 400, 400]);
    const refused = await app.send('POST', '/responses', { ...QUESTION, conversation: id });
    expect([refused.status, (await readError(refused)).param]).toEqual([400, 'conversation']);
    expect(app.calls).toHaveLength(0);
    expect(await list(app, id)).toHaveLength(2);
  });

  it('keep 10,000 items in entries of at most 100, and list them page by page', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const id = await create(app);
    const input = Array.from({ length: 9998 }, (_, at) => user(`m${at}`));
    await app.client.responses.create({ model: 'scripted', input, conversation: id });
    expect(await app.services.store.collection(CONVERSATION_ENTRIES).count({})).toBe(101);
    const ids = new Set<string>();
    let after: string | undefined;
    let pages = 0;
    for (;;) {
      const page = await app.client.conversations.items.list(id, { limit: 100, ...(after && { after }) });
      for (const item of page.data) ids.add((item as { id: string }).id);
      pages += 1;
      if (!page.has_more) break;
      after = page.last_id;
    }
    expect([ids.size, pages]).toEqual([10_000, 100]);
  }, 60_000);
});
