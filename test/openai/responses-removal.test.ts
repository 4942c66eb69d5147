import { applyRetention, QUESTS, RESPONSES, SESSIONS, STORAGE_USAGE } from '@questline/core/internal';
import { createMemoryEventLog } from '@questline/core/memory';
import type { EventLog } from '@questline/core/ports';
import { createFakeClock } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { silent } from '../support/chat.ts';
import { NOW } from '../support/test-app.ts';
import { createOpenAIApp, type OpenAIApp, untilCalled } from './support.ts';
import { createFailingStore } from './support-failing-store.ts';
import { QUESTION } from './support-responses.ts';

const DAY_MS = 86_400_000;
const BACKGROUND = { ...QUESTION, background: true };

const toQuestId = (id: string): string => id.slice('resp_'.length);

async function readUsage({ services, user }: OpenAIApp): Promise<number> {
  return (await services.store.collection(STORAGE_USAGE).get(`${user.id}:sessions`))?.bytes ?? 0;
}

async function createRunning(app: OpenAIApp, more: { conversation?: string } = {}): Promise<string> {
  const calls = app.calls.length;
  const { id } = await app.client.responses.create({ ...BACKGROUND, ...more });
  await untilCalled(app, calls + 1);
  return id;
}

describe('the deletion of a response', () => {
  it('removes its record, its quest and its events, and gives its room back', async () => {
    const app = await createOpenAIApp();
    const { store, eventLog } = app.services;
    const kept = await app.client.responses.create(QUESTION);
    const used = await readUsage(app);
    const { id } = await app.client.responses.create({ ...QUESTION, input: 'Another question' });
    const questId = toQuestId(id);
    await app.settle();
    expect(await eventLog.read(questId, 0)).not.toEqual([]);
    await app.client.responses.delete(id);
    expect(await readUsage(app)).toBe(used);
    expect((await store.collection(RESPONSES).find({})).map((one) => one.id)).toEqual([toQuestId(kept.id)]);
    expect((await store.collection(QUESTS).find({})).map((one) => one.id)).toEqual([toQuestId(kept.id)]);
    expect(
      (await app.ask('GET', `/api/v1/quests/${questId}`, { credential: await app.token() })).status,
    ).toBe(404);
    await eventLog.expire();
    expect(await eventLog.read(questId, 0)).toEqual([]);
    expect(await eventLog.read(toQuestId(kept.id), 0)).not.toEqual([]);
  });

  it('happens once for requests at the same time', async () => {
    const app = await createOpenAIApp();
    await app.client.responses.create(QUESTION);
    const used = await readUsage(app);
    const { id } = await app.client.responses.create(QUESTION);
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => app.send('DELETE', `/responses/${id}`)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404, 404, 404]);
    expect(await readUsage(app)).toBe(used);
  });

  it('is 404 if another one comes between', async () => {
    let before = async (): Promise<unknown> => undefined;
    const app = await createOpenAIApp({
      store: (store) => ({
        ...store,
        async transaction(work, options) {
          await before();
          return store.transaction(work, options);
        },
      }),
    });
    const { id } = await app.client.responses.create(QUESTION);
    const used = await readUsage(app);
    before = () => app.services.store.collection(RESPONSES).take(toQuestId(id));
    expect((await app.send('DELETE', `/responses/${id}`)).status).toBe(404);
    expect(await readUsage(app)).toBe(used);
  });

  it('stops a running response, and gives its room back', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const id = await createRunning(app);
    app.calls[0]?.say({ type: 'text', text: 'One two three' });
    await app.settle();
    await app.client.responses.delete(id);
    await app.calls[0]?.whenStopped;
    for (let count = 0; count < 5; count += 1) await app.settle();
    expect(await readUsage(app)).toBe(0);
    expect(await app.services.store.collection(QUESTS).count({})).toBe(0);
  });

  it.each([
    ['to give its room back', STORAGE_USAGE, 'add'],
    ['to stop its quest', QUESTS, 'update'],
    ['to remove its quest', QUESTS, 'take'],
  ] as const)('is not reported as done if the store fails %s', async (_title, collection, verb) => {
    const failing = createFailingStore();
    const app = await createOpenAIApp({ store: failing.wrap });
    const { id } = await app.client.responses.create(QUESTION);
    await app.settle();
    failing.failOnce(collection, verb, new Error('away'));
    expect((await app.send('DELETE', `/responses/${id}`)).status).toBe(500);
    expect(failing.hasFailed).toBe(true);
  });

  it('is not reported as done if the events stay', async () => {
    let isAway = false;
    const memory = createMemoryEventLog({ clock: createFakeClock(NOW) });
    const eventLog: EventLog = {
      ...memory,
      compact: async (...given) => (isAway ? Promise.reject(new Error('away')) : memory.compact(...given)),
    };
    const app = await createOpenAIApp({ eventLog });
    const { id } = await app.client.responses.create(QUESTION);
    await app.settle();
    isAway = true;
    expect((await app.send('DELETE', `/responses/${id}`)).status).toBe(500);
  });
});

describe('the retention of responses', () => {
  const apply = async (app: OpenAIApp, kind: string, isDryRun: boolean) => {
    const results = await applyRetention(app.services, { isDryRun });
    return results.find((result) => result.kind === kind);
  };
  const settle = async (app: OpenAIApp) => {
    for (let count = 0; count < 5; count += 1) await app.settle();
  };

  it('removes them after 30 days, with their room, unless they run', async () => {
    const app = await createOpenAIApp({ onCall: silent });
    const responses = app.services.store.collection(RESPONSES);
    const ids: string[] = [];
    for (const days of [31, 29, 31, 29]) {
      const id = await createRunning(app);
      await responses.update(toQuestId(id), { createdAt: NOW - days * DAY_MS });
      ids.push(id);
    }
    const [old = '', young = '', running = ''] = ids;
    for (const id of [old, young]) await app.client.responses.cancel(id);
    await settle(app);
    expect(await apply(app, 'responses', true)).toMatchObject({ days: 30, records: 1 });
    expect((await app.send('GET', `/responses/${old}`)).status).toBe(200);
    expect(await apply(app, 'responses', false)).toMatchObject({ days: 30, records: 1 });
    expect((await app.send('GET', `/responses/${old}`)).status).toBe(404);
    expect((await app.send('GET', `/responses/${young}`)).status).toBe(200);
    expect(await app.client.responses.retrieve(running)).toMatchObject({ status: 'in_progress' });
    const left = await responses.find({});
    expect(left).toHaveLength(3);
    expect(await readUsage(app)).toBe(left.reduce((sum, { bytes }) => sum + bytes, 0));
  });

  it('keeps a conversation while its response runs', async () => {
    const app = await createOpenAIApp({ onCall: silent, settings: { retention: { sessions: 30 } } });
    const sessions = app.services.store.collection(SESSIONS);
    const old = await app.client.conversations.create();
    const running = await createRunning(app, { conversation: old.id });
    const [session] = await sessions.find({});
    const sessionId = session?.id ?? '';
    await sessions.update(sessionId, { lastUpdated: NOW - 31 * DAY_MS });
    expect(await apply(app, 'sessions', true)).toMatchObject({ records: 0 });
    expect(await apply(app, 'sessions', false)).toMatchObject({ records: 0 });
    expect((await app.send('GET', `/conversations/${old.id}`)).status).toBe(200);

    await app.client.responses.cancel(running);
    await settle(app);
    await sessions.update(sessionId, { lastUpdated: NOW - 31 * DAY_MS });
    const young = await app.client.conversations.create();
    await createRunning(app, { conversation: young.id });
    expect(await apply(app, 'sessions', true)).toMatchObject({ records: 1 });
    expect(await apply(app, 'sessions', false)).toMatchObject({ records: 1 });
    expect((await app.send('GET', `/conversations/${old.id}`)).status).toBe(404);
    expect((await app.send('GET', `/conversations/${young.id}`)).status).toBe(200);
  });
});
