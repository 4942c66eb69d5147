import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../contract/message.ts';
import { createMemoryLimiter } from '../../memory/limiter.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { DEFAULT_RATE_LIMITS } from '../../operations/rates.ts';
import { QUESTS } from '../../runs/records.ts';
import { MESSAGES, SESSIONS } from '../sessions/records.ts';
import type { UiChatServices } from './ui-handlers.ts';
import { createListUiMessagesHandler } from './ui-messages.ts';

const NOW = Date.UTC(2026, 10, 22);
const S = 'a'.repeat(24);
const OTHER = 'b'.repeat(24);

interface UiMessages {
  readonly data: readonly { readonly id: string; readonly parts: readonly object[] }[];
  readonly next_cursor: string | null;
}

/** The session `S` of ada. Every file but `gone` can be read. */
async function setUp() {
  const store = createMemoryStore();
  const links: unknown[] = [];
  const library = {
    getAll: async (_userId: string, ids: readonly string[]) =>
      new Map(
        ids
          .filter((id) => id !== 'gone')
          .map((id) => [id, { id, name: `${id}.txt`, mimeType: 'text/plain' }]),
      ),
    async link({ id }: { id: string }, mountPath: string) {
      links.push(id);
      return { url: `https://ai.test${mountPath}/${id}` };
    },
  };
  let userId = 'ada';
  const services = {
    ...{ store, library, queue: {}, clock: createFakeClock(NOW), ids: createFakeIds() },
    ...{ limiter: createMemoryLimiter(), limits: DEFAULT_RATE_LIMITS, onError: () => undefined },
    authenticator: { authenticate: () => ({ kind: 'token', userId, isAdmin: false }) },
  } as unknown as UiChatServices;
  const route = createListUiMessagesHandler(services);
  for (const id of [S, OTHER])
    await store.collection(SESSIONS).insert({
      ...{ id, ownerId: 'ada', readerIds: ['bob'], name: 'A', firstCreated: 1, lastUpdated: 1 },
    });
  const ask = async (query = '', id = S) => {
    const request = {
      ...{ method: 'GET', path: `/api/chat/${id}/messages`, mountPath: '/ai', query, protocol: 'http' },
      ...{ headers: {}, params: { id }, body: { bytes: async () => new Uint8Array() } },
      signal: new AbortController().signal,
    } as unknown as ApiRequest;
    const answer = await route.handle(request);
    return { status: answer?.status, body: JSON.parse(String(answer?.body)) as UiMessages };
  };
  const addMessage = (id: string, role: string, more: object = {}) =>
    store.collection(MESSAGES).insert({
      ...{ id, sessionId: S, ownerId: 'ada', role, content: id, createdAt: NOW },
      ...more,
    } as never);
  const addQuest = (id: string, more: object = {}) =>
    store.collection(QUESTS).insert({
      ...{ id, kind: 'chat', sessionId: S, ownerId: 'ada', status: 'done', type: 'message' },
      ...{ request: { message: 'Now' }, createdAt: NOW + 9, updatedAt: NOW + 9 },
      ...more,
    } as never);
  return { store, links, ask, addMessage, addQuest, as: (next: string) => (userId = next) };
}

const metadata = { sessionId: S, createdAt: '2026-11-22T00:00:00.000Z' };
const text = (content: string) => ({ type: 'text', text: content });
const done = (content: string) => ({ ...text(content), state: 'done' });
const file = (fileId: string) => ({
  ...{ type: 'file', mediaType: 'text/plain', filename: `${fileId}.txt` },
  ...{ url: `https://ai.test/ai/${fileId}`, providerMetadata: { questline: { fileId } } },
});

describe('the messages of a chat', () => {
  it('are a question with its files, and an answer with its quest', async () => {
    const { ask, addMessage, addQuest, links } = await setUp();
    const promptMeta = { model: 'scripted', credits: 2 };
    const citation = { file_id: 'f', file_name: 'Cited' };
    const citations = { type: 'citations', payload: [citation] };
    const files = ['made', 'gone'].map((fileId) => ({ fileId, name: '' }));
    await addQuest('q1', { promptMeta, toolPayloads: [citations], files, stopReason: 'stop' });
    await addMessage('m1', 'user', { questId: 'q1', pageId: 'page', fileIds: ['sent', 'gone', 'made'] });
    await addMessage('m2', 'assistant', { questId: 'q1' });
    const { status, body } = await ask();
    expect([status, body.next_cursor]).toEqual([200, null]);
    expect(body.data).toStrictEqual([
      { id: 'page', role: 'user', metadata, parts: [file('sent'), file('made'), text('m1')] },
      {
        ...{ id: 'q1', role: 'assistant', metadata: { ...metadata, questId: 'q1', ...promptMeta } },
        parts: [
          {
            ...{ type: 'data-quest', id: 'quest' },
            data: { id: 'q1', sessionId: S, status: 'done', type: 'message', stopReason: 'stop' },
          },
          done('m2'),
          { type: 'data-payload', id: 'payload-0', data: citations },
          expect.objectContaining({ type: 'source-document', title: 'Cited' }),
          file('made'),
          { type: 'data-credits', id: 'credits', data: promptMeta },
        ],
      },
    ]);
    // Each file is linked once.
    expect(links).toEqual(['sent', 'made']);
  });

  it('may be files only, or empty', async () => {
    const { ask, addMessage } = await setUp();
    await addMessage('m1', 'user', { content: '', fileIds: ['sent'] });
    await addMessage('m2', 'user', { content: '' });
    await addMessage('m3', 'user', { content: '', fileIds: ['gone'] });
    const { data } = (await ask()).body;
    expect(data.map(({ parts }) => parts)).toEqual([[file('sent')], [text('')], [text('')]]);
  });

  it('may have lost their quest, and have none of other sessions', async () => {
    const { ask, addMessage, addQuest } = await setUp();
    await addQuest('other', { sessionId: OTHER });
    await addMessage('m1', 'user');
    await addMessage('m2', 'assistant', { questId: 'lost' });
    await addMessage('m3', 'assistant', { questId: 'other' });
    await addMessage('m4', 'assistant');
    await addMessage('x', 'user', { sessionId: OTHER });
    const answer = (id: string, content: string) => ({
      ...{ id, role: 'assistant', metadata, parts: [done(content)] },
    });
    expect((await ask()).body.data).toStrictEqual([
      { id: 'm1', role: 'user', metadata, parts: [text('m1')] },
      answer('lost', 'm2'),
      answer('other', 'm3'),
      answer('m4', 'm4'),
    ]);
  });

  it('have the credits of their quest only where it has some', async () => {
    const { ask, addMessage, addQuest } = await setUp();
    await addQuest('q1');
    await addMessage('m1', 'assistant', { questId: 'q1' });
    expect((await ask()).body.data[0]).toMatchObject({
      metadata: { ...metadata, questId: 'q1' },
      parts: [{ type: 'data-quest' }, done('m1')],
    });
    expect((await ask()).body.data[0]?.parts).toHaveLength(2);
  });

  it('have different ids where a page has sent one twice', async () => {
    const { ask, addMessage } = await setUp();
    await addMessage('m1', 'user', { pageId: 'same' });
    await addMessage('m2', 'user', { pageId: 'same', createdAt: NOW + 1 });
    expect((await ask()).body.data.map(({ id }) => id)).toEqual(['same', 'm2']);
  });
});

describe('the pages of messages', () => {
  it('go back from the newest, for one reader and one chat', async () => {
    const { ask, addMessage, as } = await setUp();
    for (const at of [1, 2, 3]) await addMessage(`m${at}`, 'user', { createdAt: NOW + at });
    const { body } = await ask('limit=2');
    const ids = ({ data }: UiMessages) => data.map(({ id }) => id);
    expect(ids(body)).toEqual(['m2', 'm3']);
    const cursor = `limit=2&cursor=${body.next_cursor}`;
    expect(ids((await ask(cursor)).body)).toEqual(['m1']);
    expect((await ask(cursor, OTHER)).status).toBe(422);
    as('bob');
    expect((await ask(cursor)).status).toBe(422);
    as('eve');
    expect((await ask()).status).toBe(404);
  });

  it('are empty for a name without a session', async () => {
    const { ask, addQuest } = await setUp();
    await addQuest('q', { sessionId: 'rivers', status: 'running', liveSince: NOW });
    expect(await ask('', 'rivers')).toEqual({ status: 200, body: { data: [], next_cursor: null } });
  });
});

describe('the question of a running turn', () => {
  const running = { status: 'running', liveSince: NOW };

  it('follows the stored messages, on the newest page only', async () => {
    const { ask, addMessage, addQuest } = await setUp();
    for (const at of [1, 2]) await addMessage(`m${at}`, 'user', { createdAt: NOW + at });
    const request = { message: 'Now', fileIds: ['sent'], pageId: 'page' };
    await addQuest('q1', { ...running, request });
    const { body } = await ask('limit=1');
    expect(body.data).toStrictEqual([
      {
        ...{ id: 'm2', role: 'user', metadata: { ...metadata, createdAt: '2026-11-22T00:00:00.002Z' } },
        parts: [text('m2')],
      },
      {
        ...{ id: 'page', role: 'user', parts: [file('sent'), text('Now')] },
        metadata: { ...metadata, createdAt: '2026-11-22T00:00:00.009Z' },
      },
    ]);
    const { data } = (await ask(`limit=1&cursor=${body.next_cursor}`)).body;
    expect(data.map(({ id }) => id)).toEqual(['m1']);
  });

  it('has an id of its own', async () => {
    const { ask, addQuest } = await setUp();
    await addQuest('q1', running);
    expect((await ask()).body.data).toMatchObject([{ id: 'q1.question', parts: [text('Now')] }]);
  });

  it('stands for the messages that it replaces', async () => {
    const { ask, addMessage, addQuest } = await setUp();
    for (const at of [1, 2, 3]) await addMessage(`m${at}`, 'user', { createdAt: NOW + at });
    const replaces = { from: { id: 'm2', createdAt: NOW + 2 }, to: { id: 'm3', createdAt: NOW + 3 } };
    await addQuest('q1', { ...running, request: { message: 'Now', replaces } });
    expect((await ask()).body.data.map(({ id }) => id)).toEqual(['m1', 'q1.question']);
  });

  it('is shown once when it is stored meanwhile', async () => {
    const { ask, addMessage, addQuest } = await setUp();
    await addMessage('m0', 'user', { createdAt: NOW - 1 });
    await addQuest('q1', running);
    await addMessage('m1', 'user', { questId: 'q1' });
    expect((await ask()).body.data.map(({ id }) => id)).toEqual(['m0', 'q1.question']);
  });
});
