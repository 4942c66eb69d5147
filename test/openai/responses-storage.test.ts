import {
  CONVERSATION_ENTRIES,
  CONVERSATIONS,
  QUESTS,
  RESPONSES,
  STORAGE_USAGE,
} from '@questline/core/internal';
import { StorageUnavailable } from '@questline/core/ports';
import { describe, expect, it } from 'vitest';
import { sayAtOnce, silent } from '../support/chat.ts';
import { createOpenAIApp, type OpenAIApp, readError, untilCalled } from './support.ts';
import { createFailingStore } from './support-failing-store.ts';
import { QUESTION } from './support-responses.ts';

const RECORD_BYTES = 256;
const BACKGROUND = { ...QUESTION, input: 'Wie ist das Wetter in Ås?', background: true };

const toQuestId = (id: string): string => id.slice('resp_'.length);

async function readUsage({ services, user }: OpenAIApp): Promise<number> {
  return (await services.store.collection(STORAGE_USAGE).get(`${user.id}:sessions`))?.bytes ?? 0;
}

/** The bytes of the request and of the answer of a response, by its texts. */
async function measure({ services: { store } }: OpenAIApp, id: string) {
  const response = await store.collection(RESPONSES).get(toQuestId(id));
  const quest = await store.collection(QUESTS).get(toQuestId(id));
  const { wire = '', input = '', bytes } = response ?? {};
  return {
    bytes,
    request: Buffer.byteLength(wire) + Buffer.byteLength(input) + RECORD_BYTES,
    answer: Buffer.byteLength(quest?.output ?? ''),
  };
}

/** Runs the worker, and its later tries, until the response has ended. */
async function untilEnded(app: OpenAIApp, id: string): Promise<string | undefined> {
  for (let count = 0; count < 100; count += 1) {
    const { status } = await app.client.responses.retrieve(id);
    if (status !== 'queued' && status !== 'in_progress') return status;
    await app.settle();
    await app.clock.advance(1000);
  }
  throw new Error('the response has not ended');
}

function say({ calls: [call] }: OpenAIApp, text: string): void {
  if (call === undefined) throw new Error('the model was not called');
  sayAtOnce(text)(call);
}

describe('the storage of responses', () => {
  it('counts the request when it is accepted, and the answer at its end', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    const { request } = await measure(app, id);
    expect([await readUsage(app), (await measure(app, id)).bytes]).toEqual([request, request]);
    say(app, 'Es schneit in Ås.');
    expect(await untilEnded(app, id)).toBe('completed');
    const { bytes, answer } = await measure(app, id);
    expect(answer).toBeGreaterThan(0);
    expect([await readUsage(app), bytes]).toEqual([request + answer, request + answer]);
  });

  it('counts nothing more for a response without an answer', async () => {
    const app = await createOpenAIApp({ started: false });
    const { id } = await app.client.responses.create(BACKGROUND);
    await app.client.responses.cancel(id);
    await app.api.start();
    await app.settle();
    const { bytes, request, answer } = await measure(app, id);
    expect(answer).toBe(0);
    expect([await readUsage(app), bytes]).toEqual([request, request]);
  });

  it.each([false, true])('counts what a cancelled response has said (store away: %s)', async (isAway) => {
    const failing = createFailingStore();
    const app = await createOpenAIApp({
      store: failing.wrap,
      onCall: (call) => call.say({ type: 'text', text: 'One two' }),
    });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    await app.settle();
    if (isAway) {
      const isOutput = ([, patch = {}]: readonly unknown[]) =>
        Object.keys(patch as object).join() === 'output';
      failing.failOnce(QUESTS, 'update', new StorageUnavailable('away'), isOutput);
    }
    await app.client.responses.cancel(id);
    await app.calls[0]?.whenStopped;
    for (let count = 0; count < 30; count += 1) {
      await app.settle();
      await app.clock.advance(1000);
    }
    expect(failing.hasFailed).toBe(true);
    const { bytes, request, answer } = await measure(app, id);
    expect(answer).toBeGreaterThan(0);
    expect([await readUsage(app), bytes]).toEqual([request + answer, request + answer]);
    expect(await app.client.responses.retrieve(id)).toMatchObject({ output_text: 'One two' });
  });

  it('refuses a response beyond the quota, until another one is deleted', async () => {
    const app = await createOpenAIApp({ settings: { storageQuotas: { sessions: 1500 } } });
    const first = await app.client.responses.create(QUESTION);
    const used = await readUsage(app);
    for (const more of [{}, { stream: true }, { background: true }]) {
      const refused = await app.send('POST', '/responses', { ...QUESTION, ...more });
      expect([refused.status, (await readError(refused)).code]).toEqual([400, 'limit_exceeded']);
    }
    expect(app.calls).toHaveLength(1);
    expect(await app.services.store.collection(RESPONSES).count({})).toBe(1);
    expect(await readUsage(app)).toBe(used);
    await app.client.responses.delete(first.id);
    expect((await app.send('POST', '/responses', QUESTION)).status).toBe(200);
  });

  it.each([
    ['the bytes of the response', RESPONSES, 'add'],
    ['the bytes of the owner', STORAGE_USAGE, 'add'],
    ['the call of the model', RESPONSES, 'update'],
  ] as const)('counts an answer once if its end fails first: %s', async (_title, collection, verb) => {
    const failing = createFailingStore();
    const app = await createOpenAIApp({ onCall: silent, store: failing.wrap });
    const { id } = await app.client.responses.create(BACKGROUND);
    await untilCalled(app);
    failing.failOnce(collection, verb, new StorageUnavailable('away'));
    say(app, 'Es schneit.');
    expect(await untilEnded(app, id)).toBe('completed');
    expect(failing.hasFailed).toBe(true);
    const { bytes, request, answer } = await measure(app, id);
    expect([await readUsage(app), bytes]).toEqual([request + answer, request + answer]);
    expect(await app.services.store.collection(RESPONSES).get(toQuestId(id))).not.toHaveProperty('call');
  });

  it.each([
    ['its items', CONVERSATION_ENTRIES, 'insert'],
    ['their bytes', STORAGE_USAGE, 'add'],
  ] as const)(
    'counts the turn of a conversation once if its end fails first: %s',
    async (_title, collection, verb) => {
      const failing = createFailingStore();
      const app = await createOpenAIApp({ onCall: silent, store: failing.wrap });
      const conversation = await app.client.conversations.create();
      const before = await readUsage(app);
      const { id } = await app.client.responses.create({ ...BACKGROUND, conversation: conversation.id });
      await untilCalled(app);
      failing.failOnce(collection, verb, new StorageUnavailable('away'));
      say(app, 'Es schneit.');
      expect(await untilEnded(app, id)).toBe('completed');
      expect(failing.hasFailed).toBe(true);
      const { bytes, request, answer } = await measure(app, id);
      expect(bytes).toBe(request + answer);
      const items = await app.client.conversations.items.list(conversation.id, { order: 'asc' });
      expect(items.data).toMatchObject([{ role: 'user' }, { role: 'assistant' }]);
      const after = await readUsage(app);
      await app.client.responses.delete(id);
      expect(await readUsage(app)).toBe(after - request - answer);
      expect(after - request - answer).toBeGreaterThan(before);
    },
  );

  it('is not taken by a response that cannot have its conversation', async () => {
    const failing = createFailingStore();
    const app = await createOpenAIApp({ store: failing.wrap });
    const { id: conversation } = await app.client.conversations.create();
    const used = await readUsage(app);
    const isLock = ([, patch = {}]: readonly unknown[]) => 'current' in (patch as object);
    failing.failOnce(CONVERSATIONS, 'update', new StorageUnavailable('away'), isLock);
    const refused = await app.send('POST', '/responses', { ...QUESTION, conversation });
    expect(refused.status).toBe(503);
    expect(failing.hasFailed).toBe(true);
    expect(await app.services.store.collection(RESPONSES).count({})).toBe(0);
    expect(await readUsage(app)).toBe(used);
    expect((await app.send('POST', '/responses', { ...QUESTION, conversation })).status).toBe(200);
  });

  it('is not taken by a response whose id another record has', async () => {
    let fixed: string | undefined;
    const app = await createOpenAIApp({
      services: (own) => ({ ...own, ids: { ...own.ids, next: () => fixed ?? own.ids.next() } }),
    });
    const { store } = app.services;
    const first = toQuestId((await app.client.responses.create(QUESTION)).id);
    const second = toQuestId((await app.client.responses.create(QUESTION)).id);
    await store.collection(QUESTS).take(first);
    await store.collection(RESPONSES).take(second);
    const used = await readUsage(app);
    for (const id of [first, second]) {
      fixed = id;
      expect((await app.send('POST', '/responses', QUESTION)).status).toBe(500);
    }
    expect(await readUsage(app)).toBe(used);
    expect([await store.collection(QUESTS).count({}), await store.collection(RESPONSES).count({})]).toEqual([
      1, 1,
    ]);
    expect(app.calls).toHaveLength(2);
  });
});
