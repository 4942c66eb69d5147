import { setImmediate as turn } from 'node:timers/promises';
import { COLLECTIONS } from '@questline/core';
import {
  CONVERSATION_ENTRIES,
  CONVERSATIONS,
  MAX_CONVERSATION_CHARACTERS,
  MAX_CONVERSATION_ITEMS,
} from '@questline/core/internal';
import { type Collection, StorageUnavailable, type Store, type StoredRecord } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { sayAtOnce, silent } from '../support/chat.ts';
import { reason } from '../support/vendor-wire.ts';
import { createOpenAIApp, type OpenAIApp, readError, untilCalled } from './support.ts';
import { FUNCTIONS, QUESTION } from './support-responses.ts';
import { ANSWER, callSearch, createWebSearch, sayInRounds } from './support-server-tools.ts';

const SECRET = 'a text of this test only';
/** Turns that the first call of a transaction takes. */
const MAX_TURNS = 64;
const OTHER = 'f'.repeat(24);
const user = (content: string) => ({ role: 'user' as const, content });

interface Access {
  readonly collection: string;
  readonly verb: string;
  /** The number of the call in its transaction, from 0. Undefined: in none. */
  readonly place: number | undefined;
}

interface Watch {
  before?(access: Access): unknown;
  after?(access: Access, result: unknown): unknown;
}

/** A store with work before and after each call. */
function watched(store: Store, watch: Watch, nextPlace?: () => number): Store {
  return {
    collection: (definition) =>
      new Proxy(store.collection(definition), {
        get(target, verb: keyof Collection<StoredRecord>) {
          const method = target[verb] as (...args: unknown[]) => Promise<unknown>;
          return async (...args: unknown[]) => {
            const access = { collection: definition.name, verb, place: nextPlace?.() };
            await watch.before?.(access);
            const result = await method.apply(target, args);
            await watch.after?.(access, result);
            return result;
          };
        },
      }),
    transaction: (work, options) => {
      let calls = 0;
      return store.transaction((inner) => work(watched(inner, watch, () => calls++)), options);
    },
  };
}

interface MeanwhileApp extends OpenAIApp {
  /** Runs once, after the next request has read its conversation. */
  meanwhile: (() => unknown) | undefined;
}

async function createMeanwhileApp(
  options: Parameters<typeof createOpenAIApp>[0] = {},
): Promise<MeanwhileApp> {
  const state: { app?: MeanwhileApp } = {};
  const app = await createOpenAIApp({
    onCall: reason,
    ...options,
    store: (store) =>
      watched(store, {
        async after({ collection, verb, place }) {
          const work = state.app?.meanwhile;
          if (work === undefined || place !== undefined || collection !== 'conversations' || verb !== 'get')
            return;
          if (state.app !== undefined) state.app.meanwhile = undefined;
          await work();
        },
      }),
  });
  state.app = { ...app, meanwhile: undefined };
  return state.app;
}

async function list({ client }: OpenAIApp, id: string): Promise<readonly { id: string; type: string }[]> {
  const page = await client.conversations.items.list(id, { order: 'asc', limit: 100 });
  return page.data as { id: string; type: string }[];
}

const getTexts = (items: readonly unknown[]): readonly string[] =>
  (items as readonly { content: readonly { text: string }[] }[]).map(({ content }) => content[0]?.text ?? '');

const toRecordId = (id: string): string => id.slice('conv_'.length);

/** The counts of a conversation, and those of its entries. */
async function readCounts({ services: { store } }: OpenAIApp, id: string) {
  const conversation = await store.collection(CONVERSATIONS).get(toRecordId(id));
  const entries = await store.collection(CONVERSATION_ENTRIES).find({ conversationId: toRecordId(id) });
  const sum = (field: 'items' | 'characters' | 'bytes'): number =>
    entries.reduce((total, entry) => total + entry[field], 0);
  return { conversation, entries, items: sum('items'), characters: sum('characters'), bytes: sum('bytes') };
}

async function readUsage({ services: { store }, user: { id } }: OpenAIApp): Promise<number> {
  const collection = COLLECTIONS.find(({ name }) => name === 'storage_usage');
  const usage = (await store.collection(collection as never).get(`${id}:sessions`)) as
    | { bytes?: number }
    | undefined;
  return usage?.bytes ?? 0;
}

/** Adds entries of one item each. */
async function fill({ services: { store }, user: { id: ownerId } }: OpenAIApp, id: string, count: number) {
  const conversationId = toRecordId(id);
  for (let at = 1; at <= count; at += 1) {
    const source = `${at.toString(16).padStart(8, '0')}${'e'.repeat(16)}`;
    const items = [{ id: `msg_${source}_in0`, item: { type: 'message', ...user(`m${at}`) } }];
    const given = JSON.stringify(items);
    const size = { items: 1, characters: given.length, bytes: given.length };
    const record = { id: `${source}:0`, conversationId, ownerId, sequence: at, given, ...size };
    await store.collection(CONVERSATION_ENTRIES).insert(record);
  }
  await store.collection(CONVERSATIONS).update(conversationId, { sequence: count, items: count });
}

describe('the items of a conversation', () => {
  it('are separate from those of another conversation, also when that is deleted', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const kept = await app.client.conversations.create({ items: [user('a')] });
    const gone = await app.client.conversations.create({ items: [user('b')] });
    await app.client.conversations.items.create(kept.id, { items: [user('c')] });
    expect(getTexts(await list(app, kept.id))).toEqual(['a', 'c']);
    expect(getTexts(await list(app, gone.id))).toEqual(['b']);
    await app.client.responses.create({ ...QUESTION, conversation: gone.id });
    expect(app.calls[0]?.request.messages.map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'b' }],
      [{ type: 'text', text: QUESTION.input }],
    ]);
    await app.client.conversations.delete(gone.id);
    await app.clock.advance(5000);
    expect(getTexts(await list(app, kept.id))).toEqual(['a', 'c']);
    expect((await readCounts(app, gone.id)).entries).toEqual([]);
  });

  it('are unknown in an entry of another owner', async () => {
    const app = await createOpenAIApp();
    const { id } = await app.client.conversations.create({ items: [user('a')] });
    const [item] = await list(app, id);
    const { entries } = await readCounts(app, id);
    await app.services.store
      .collection(CONVERSATION_ENTRIES)
      .update(entries[0]?.id ?? '', { ownerId: OTHER });
    expect(await list(app, id)).toEqual([]);
    expect((await app.send('GET', `/conversations/${id}/items/${item?.id}`)).status).toBe(404);
    expect((await app.send('DELETE', `/conversations/${id}/items/${item?.id}`)).status).toBe(404);
    expect((await readCounts(app, id)).entries).toHaveLength(1);
  });

  it('reach the model in order when they fill more than one page of the store', async () => {
    let reads = 0;
    const app = await createOpenAIApp({
      onCall: sayAtOnce('Rain.'),
      store: (store) =>
        watched(store, {
          before({ collection, verb }) {
            if (collection !== 'conversation_entries' || verb !== 'find') return;
            reads += 1;
            if (reads > 10) throw new Error('too many reads');
          },
        }),
    });
    const { id } = await app.client.conversations.create();
    await fill(app, id, 1001);
    await app.client.responses.create({ ...QUESTION, conversation: id });
    expect(getTexts(app.calls[0]?.request.messages ?? [])).toEqual([
      ...Array.from({ length: 1001 }, (_, at) => `m${at + 1}`),
      QUESTION.input,
    ]);
  });

  it('are read in few entries for a short page', async () => {
    let found = 0;
    const app = await createOpenAIApp({
      store: (store) =>
        watched(store, {
          after({ collection, verb }, result) {
            if (collection === 'conversation_entries' && verb === 'find')
              found += (result as unknown[]).length;
          },
        }),
    });
    const { id } = await app.client.conversations.create();
    await fill(app, id, 40);
    const page = await app.client.conversations.items.list(id, { limit: 2, order: 'asc' });
    expect(getTexts(page.data)).toEqual(['m1', 'm2']);
    expect(found).toBeLessThanOrEqual(10);
  });

  it('are numbered in order, and the newest entry has the number of its conversation', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.conversations.create({ items: [user('a')] });
    await app.client.responses.create({ ...QUESTION, conversation: id });
    const { entries, conversation } = await readCounts(app, id);
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    expect(conversation?.sequence).toBe(3);
  });

  it('make one entry when there are exactly 100 of them', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.conversations.create();
    const input = Array.from({ length: 100 }, (_, at) => user(`m${at}`));
    await app.client.responses.create({ model: 'scripted', input, conversation: id });
    expect((await readCounts(app, id)).entries.map(({ items }) => items)).toEqual([100, 1]);
  });

  it('have the fields that the response was asked to include', async () => {
    const { web } = createWebSearch();
    const app = await createOpenAIApp({ web, onCall: sayInRounds([callSearch('c1', 'a')], [ANSWER]) });
    const { id } = await app.client.conversations.create();
    const { output } = await app.client.responses.create({
      ...QUESTION,
      conversation: id,
      tools: [{ type: 'web_search' }],
      include: ['web_search_call.action.sources'],
    });
    expect(output[0]).toMatchObject({ action: { sources: [{}, {}] } });
    expect((await list(app, id)).slice(1)).toEqual(output);
  });

  it('are not added at all if an id is taken', async () => {
    const app = await createOpenAIApp();
    const { id } = await app.client.conversations.create();
    app.services.ids.next = () => 'e'.repeat(24);
    const add = (content: string) =>
      app.send('POST', `/conversations/${id}/items`, { items: [user(content)] });
    expect((await add('a')).status).toBe(200);
    const before = await readCounts(app, id);
    const usage = await readUsage(app);
    expect((await add('b')).status).toBe(500);
    expect(await readCounts(app, id)).toEqual(before);
    expect(await readUsage(app)).toBe(usage);
  });
});

describe('the counts of a conversation', () => {
  it('are exact after every change', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.conversations.create();
    const emptyUsage = await readUsage(app);
    const check = async (items: number): Promise<void> => {
      const counts = await readCounts(app, id);
      expect(counts.conversation).toMatchObject({ items, characters: counts.characters });
      expect(counts.items).toBe(items);
      expect((await readUsage(app)) - emptyUsage).toBe(counts.bytes);
      for (const { given, answer = '', context = '', characters, bytes } of counts.entries) {
        const text = given ?? answer + context;
        expect([characters, bytes]).toEqual([text.length, Buffer.byteLength(text) + 256]);
      }
    };
    await app.client.conversations.items.create(id, { items: ['ä', 'bb', 'ccc'].map(user) });
    await check(3);
    const created = await app.client.responses.create({ ...QUESTION, conversation: id });
    await app.client.responses.delete(created.id);
    await check(5);
    const items = await list(app, id);
    // The reasoning is deleted with the answer behind it: an answer counts as one item.
    const left = [4, 3, 2, 1, 0];
    for (const item of items.filter(({ type }) => type === 'message')) {
      await app.client.conversations.items.delete(item.id, { conversation_id: id });
      await check(left.shift() ?? 0);
    }
    expect(await list(app, id)).toEqual([]);
    expect((await readCounts(app, id)).entries).toEqual([]);
    expect(await readUsage(app)).toBe(emptyUsage);
  });

  it('refuse an item beyond the limit of items, to which an answer adds one', async () => {
    const app = await createOpenAIApp({ onCall: reason });
    const { id } = await app.client.conversations.create();
    const conversations = app.services.store.collection(CONVERSATIONS);
    await conversations.update(toRecordId(id), { items: MAX_CONVERSATION_ITEMS - 3 });
    await app.client.responses.create({ ...QUESTION, conversation: id });
    const add = () => app.send('POST', `/conversations/${id}/items`, { items: [user('a')] });
    expect((await add()).status).toBe(200);
    const refused = await add();
    expect([refused.status, await readError(refused)]).toMatchObject([
      400,
      { code: 'limit_exceeded', param: 'conversation', message: expect.stringContaining('at most 10000') },
    ]);
  });

  it('refuse an item beyond the limit of characters', async () => {
    const app = await createOpenAIApp();
    const { id } = await app.client.conversations.create();
    const conversations = app.services.store.collection(CONVERSATIONS);
    const add = () => app.send('POST', `/conversations/${id}/items`, { items: [user('a')] });
    expect((await add()).status).toBe(200);
    const { characters } = await readCounts(app, id);
    const full = MAX_CONVERSATION_CHARACTERS - characters;
    await conversations.update(toRecordId(id), { characters: full + 1 });
    const refused = await add();
    expect([refused.status, (await readError(refused)).code]).toEqual([400, 'limit_exceeded']);
    await conversations.update(toRecordId(id), { characters: full });
    expect((await add()).status).toBe(200);
    expect((await readCounts(app, id)).conversation?.characters).toBe(MAX_CONVERSATION_CHARACTERS);
    expect((await add()).status).toBe(400);
  });

  it.each([
    ['items', { items: MAX_CONVERSATION_ITEMS - 1 }],
    ['characters', { characters: MAX_CONVERSATION_CHARACTERS - 200 }],
  ])('do not refuse an answer that is paid, beyond the limit of %s', async (_field, counts) => {
    const app = await createOpenAIApp({ onCall: sayAtOnce('r'.repeat(400)) });
    const { id } = await app.client.conversations.create();
    await app.services.store.collection(CONVERSATIONS).update(toRecordId(id), counts);
    const { status } = await app.client.responses.create({ ...QUESTION, conversation: id });
    expect(status).toBe('completed');
    expect(await list(app, id)).toHaveLength(2);
    expect(app.incidents).toEqual([]);
  });

  it('are not changed by an answer whose conversation was deleted', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const before = await readUsage(app);
    const { id: conversation } = await app.client.conversations.create();
    const { id } = await app.client.responses.create({ ...QUESTION, conversation, background: true });
    await untilCalled(app);
    await app.client.conversations.delete(conversation);
    await app.clock.advance(5000);
    app.calls[0]?.say({ type: 'text', text: 'Rain.' }, { type: 'finish', reason: 'stop' });
    app.calls[0]?.end();
    for (let count = 0; count < 50; count += 1) await app.settle();
    expect(await app.client.responses.retrieve(id)).toMatchObject({ status: 'completed' });
    await app.client.responses.delete(id);
    expect(await readUsage(app)).toBe(before);
  });
});

describe('an item that is deleted', () => {
  it('leaves nothing of it in the entry', async () => {
    const app = await createOpenAIApp({
      onCall: sayInRounds([
        { type: 'text', text: SECRET },
        { type: 'tool_use', id: 't1', name: 'weather', arguments: '{}' },
      ]),
    });
    const { id } = await app.client.conversations.create();
    const { output } = await app.client.responses.create({ ...QUESTION, tools: FUNCTIONS, conversation: id });
    const toText = async () =>
      (await readCounts(app, id)).entries.map((entry) => Object.values(entry).join()).join();
    expect(await toText()).toContain('"time"');
    const said = output.find(({ type }) => type === 'message');
    await app.client.conversations.items.delete(said?.id ?? '', { conversation_id: id });
    expect((await list(app, id)).map(({ type }) => type)).toEqual(['message', 'function_call']);
    const text = await toText();
    expect(text).toContain('"weather"');
    // The name of a tool that the answer did not call is kept only with the answer.
    for (const gone of [SECRET, '"time"']) expect(text).not.toContain(gone);
  });
});

describe('a conversation that changes while a request is made', () => {
  const deleteRecord = (app: OpenAIApp, id: string) =>
    app.services.store.collection(CONVERSATIONS).take(toRecordId(id));
  const giveAway = (app: OpenAIApp, id: string) =>
    app.services.store.collection(CONVERSATIONS).update(toRecordId(id), { ownerId: OTHER });

  it.each([
    ['is deleted', deleteRecord],
    ['gets another owner', giveAway],
  ])('is unknown when it %s', async (_title, change) => {
    for (const method of ['POST', 'DELETE']) {
      const app = await createMeanwhileApp();
      const { id } = await app.client.conversations.create({ items: [user('a')] });
      const [item] = await list(app, id);
      const { entries } = await readCounts(app, id);
      const usage = await readUsage(app);
      app.meanwhile = () => change(app, id);
      const path = `/conversations/${id}/items`;
      const answer =
        method === 'POST'
          ? await app.send(method, path, { items: [user('b')] })
          : await app.send(method, `${path}/${item?.id}`);
      expect([answer.status, app.meanwhile]).toEqual([404, undefined]);
      expect((await readCounts(app, id)).entries).toEqual(entries);
      expect(await readUsage(app)).toBe(usage);
    }
  });

  it.each([
    [
      'gets an item',
      (app: OpenAIApp, id: string) => app.client.conversations.items.create(id, { items: [user('b')] }),
    ],
    [
      'loses an item',
      async (app: OpenAIApp, id: string) => {
        const [item] = await list(app, id);
        await app.client.conversations.items.delete(item?.id ?? '', { conversation_id: id });
      },
    ],
    [
      'gets another response',
      (app: OpenAIApp, conversation: string) =>
        app.client.responses.create({ ...QUESTION, conversation, background: true }),
    ],
    ['gets another owner', giveAway],
  ])('does not begin a response when it %s', async (_title, change) => {
    const app = await createMeanwhileApp({ onCall: silent });
    const { id: conversation } = await app.client.conversations.create({ items: [user('a')] });
    app.meanwhile = () => change(app, conversation);
    const answer = await app.send('POST', '/responses', { ...QUESTION, conversation, background: true });
    expect([answer.status, (await readError(answer)).code]).toEqual([409, 'conversation_locked']);
  });

  it('gets no answer when it has another owner', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id: conversation } = await app.client.conversations.create();
    const { id } = await app.client.responses.create({ ...QUESTION, conversation, background: true });
    await untilCalled(app);
    await giveAway(app, conversation);
    app.calls[0]?.say({ type: 'text', text: 'Rain.' }, { type: 'finish', reason: 'stop' });
    app.calls[0]?.end();
    for (let count = 0; count < 50; count += 1) await app.settle();
    expect(await app.client.responses.retrieve(id)).toMatchObject({ status: 'completed' });
    expect((await readCounts(app, conversation)).entries).toEqual([]);
  });
});

describe('the deletion of a conversation', () => {
  it('deletes entries in batches, and reads each of them once', async () => {
    const found: number[] = [];
    const app = await createOpenAIApp({
      store: (store) =>
        watched(store, {
          after({ collection, verb }, result) {
            if (collection === 'conversation_entries' && verb === 'find')
              found.push((result as unknown[]).length);
          },
        }),
    });
    const { id } = await app.client.conversations.create();
    await fill(app, id, 450);
    await app.client.conversations.delete(id);
    await app.clock.advance(5000);
    expect(await app.services.store.collection(CONVERSATION_ENTRIES).count({})).toBe(0);
    expect(Math.max(...found)).toBeLessThanOrEqual(200);
    // One look first, whether there are any.
    expect(found.reduce((sum, length) => sum + length, 0)).toBe(1 + 450);
  });

  it('is repeated when the store fails', async () => {
    let failures = 0;
    const app = await createOpenAIApp({
      store: (store) =>
        watched(store, {
          before({ collection, verb }) {
            if (collection !== 'conversations' || verb !== 'take' || failures > 0) return;
            failures += 1;
            throw new StorageUnavailable('away');
          },
        }),
    });
    const { id } = await app.client.conversations.create({ items: [user('a')] });
    await app.client.conversations.delete(id);
    for (let count = 0; count < 30; count += 1) await app.clock.advance(60_000);
    expect(failures).toBe(1);
    expect(await readCounts(app, id)).toMatchObject({ conversation: undefined, entries: [] });
    expect(await readUsage(app)).toBe(0);
  });
});

it('a conversation is complete on a store whose calls take effect later', async () => {
  const app = await createOpenAIApp({
    onCall: reason,
    store: (store) =>
      watched(store, {
        async before({ place }) {
          // A call takes longer than all later ones: one that its transaction does not wait for is lost.
          const turns = place === undefined ? 0 : Math.ceil(MAX_TURNS / 2 ** place);
          for (let count = 0; count < turns; count += 1) await turn();
        },
      }),
  });
  const { id } = await app.client.conversations.create({ items: ['a', 'b'].map(user) });
  const { id: response } = await app.client.responses.create({ ...QUESTION, conversation: id });
  await app.client.responses.delete(response);
  const check = async (length: number): Promise<void> => {
    expect(await list(app, id)).toHaveLength(length);
    const { conversation, items, characters } = await readCounts(app, id);
    expect(conversation).toMatchObject({ items, characters });
  };
  await check(5);
  for (const [index, item] of (await list(app, id)).slice(0, 3).entries()) {
    await app.client.conversations.items.delete(item.id, { conversation_id: id });
    await check(4 - index);
  }
  await app.client.conversations.delete(id);
  for (let count = 0; count < 600; count += 1) await app.clock.advance(100);
  expect(await readCounts(app, id)).toMatchObject({ conversation: undefined, entries: [] });
  expect(await readUsage(app)).toBe(0);
});
