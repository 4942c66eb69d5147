import {
  ANALYTICS_EVENTS,
  FILES,
  getGenerations,
  MESSAGES,
  QUESTS,
  SESSIONS,
  STORAGE_USAGE,
} from '@questline/core/internal';
import { describe, expect, it } from 'vitest';
import { createChatApp } from '../support/chat.ts';
import { makeFile } from '../support/owned-resources.ts';
import { createTestApp, NOW, type TestApp } from '../support/test-app.ts';

const DAY_MS = 86_400_000;
const SWEEP_MS = 600_000;

/** Runs the sweep, and the jobs that it enqueues. */
async function sweep(app: TestApp): Promise<void> {
  await app.clock.advance(SWEEP_MS);
  await app.settle();
  await app.clock.advance(60_000);
  await app.settle();
}

describe('retention by age', () => {
  it('deletes old sessions as their owner would, with messages, turns and quota, and keeps newer ones', async () => {
    const app = await createChatApp({
      settings: {
        admin: { DefaultAPIModel: 'scripted' },
        retention: { sessions: 30 },
        worker: { pollMs: 60_000 },
      },
    });
    const { store } = app.services;
    const old = await app.chat({ message: 'An old question', newConversation: true });
    const young = await app.chat({ message: 'A new question', newConversation: true });
    await app.settle();
    const sessions = store.collection(SESSIONS);
    const oldId = String(old.body.sessionId);
    await sessions.update(oldId, { lastUpdated: NOW - 30 * DAY_MS - 1 });
    await sessions.update(String(young.body.sessionId), { lastUpdated: NOW - 29 * DAY_MS });
    const usage = async () => (await store.collection(STORAGE_USAGE).find({}))[0]?.bytes ?? 0;
    const before = await usage();
    await sweep(app);
    expect((await sessions.find({})).map(({ id }) => id)).toEqual([young.body.sessionId]);
    expect(await store.collection(MESSAGES).count({ sessionId: oldId })).toBe(0);
    expect(await store.collection(QUESTS).count({ sessionId: oldId })).toBe(0);
    expect(await store.collection(QUESTS).count({})).toBe(1);
    expect(await usage()).toBeLessThan(before);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });

  it('deletes old files with their bytes, and analytics events', async () => {
    const app = await createTestApp({ settings: { retention: { files: 10, analytics: 5 } } });
    const { store, objects } = app.services;
    await app.api.start();
    const fileId = String(await makeFile(app, app.user));
    await app.settle();
    const files = store.collection(FILES);
    const { objectKey = '' } = (await files.get(fileId)) ?? {};
    await files.update(fileId, { createdAt: NOW - 10 * DAY_MS - 1 });
    const event = { userId: app.user.id, event: 'opened', properties: {} };
    await store.collection(ANALYTICS_EVENTS).insert({ id: 'a', ...event, createdAt: NOW - 6 * DAY_MS });
    await store.collection(ANALYTICS_EVENTS).insert({ id: 'b', ...event, createdAt: NOW - 4 * DAY_MS });
    await sweep(app);
    expect(await files.get(fileId)).toBeUndefined();
    expect(await objects.head(objectKey)).toBeUndefined();
    expect((await store.collection(ANALYTICS_EVENTS).find({})).map(({ id }) => id)).toEqual(['b']);
    await app.api.close();
  });

  it('deletes video jobs that have ended, and none that its worker still maintains', async () => {
    const app = await createTestApp({ settings: { retention: { generations: 1 } } });
    const generations = getGenerations(app.services.store);
    const job = {
      kind: 'video',
      ownerId: app.user.id,
      source: 'api',
      model: 'm',
      createdAt: NOW - 2 * DAY_MS,
    };
    await generations.insert({ id: 'ended', state: 'succeeded', ...job } as never);
    await generations.insert({
      id: 'kept',
      state: 'cancelled',
      nextCheckAt: NOW + 9 * DAY_MS,
      ...job,
    } as never);
    await generations.insert({ id: 'new', state: 'failed', ...job, createdAt: NOW } as never);
    await app.api.start();
    await sweep(app);
    expect((await generations.find({})).map(({ id }) => id)).toEqual(['kept', 'new']);
    await app.api.close();
  });

  it('deletes more than one batch in a run', async () => {
    const app = await createTestApp({ settings: { retention: { analytics: 1 } } });
    const { store } = app.services;
    const events = store.collection(ANALYTICS_EVENTS);
    const event = { userId: app.user.id, event: 'opened', properties: {}, createdAt: NOW - 2 * DAY_MS };
    for (let at = 0; at < 250; at += 1) await events.insert({ id: `e${at}`, ...event });
    await app.api.start();
    await sweep(app);
    expect(await events.count({})).toBe(0);
    await app.api.close();
  });

  it('deletes surplus messages in the next run, and then once an hour', async () => {
    const app = await createTestApp({
      settings: { keepNewest: { messages: 2 }, worker: { pollMs: 60_000 } },
    });
    const { store } = app.services;
    const session = { ownerId: app.user.id, name: 's', firstCreated: NOW, lastUpdated: NOW };
    await store.collection(SESSIONS).insert({ id: 's', ...session } as never);
    const messages = store.collection(MESSAGES);
    const say = async (id: string, days: number) =>
      messages.insert({
        ...{ id, sessionId: 's', ownerId: app.user.id, role: 'user', content: 'text' },
        createdAt: NOW - days * DAY_MS,
      });
    for (const days of [5, 4, 3]) await say(`m${days}`, days);
    await app.api.start();
    await sweep(app);
    expect((await messages.find({})).map(({ id }) => id)).toEqual(['m3', 'm4']);
    await say('m2', 2);
    await sweep(app);
    expect(await messages.count({})).toBe(3);
    for (let run = 0; run < 6; run += 1) await sweep(app);
    expect((await messages.find({})).map(({ id }) => id)).toEqual(['m2', 'm3']);
    expect(app.incidents).toEqual([]);
    await app.api.close();
  });

  it('reads few of the messages that stay', async () => {
    let read = 0;
    const app = await createTestApp({
      settings: { retention: { messages: 1 }, worker: { pollMs: 60_000 } },
      store: (store) => ({
        ...store,
        collection(definition) {
          const records = store.collection(definition);
          if (definition.name !== MESSAGES.name) return records;
          return {
            ...records,
            async find(...given) {
              const found = await records.find(...given);
              read += found.length;
              return found;
            },
          };
        },
      }),
    });
    const { store } = app.services;
    const session = { ownerId: app.user.id, name: 's', firstCreated: NOW, lastUpdated: NOW };
    await store.collection(SESSIONS).insert({ id: 's', ...session } as never);
    const messages = store.collection(MESSAGES);
    for (let at = 0; at < 300; at += 1) {
      const said = { sessionId: 's', ownerId: app.user.id, role: 'user', content: 'text' } as const;
      await messages.insert({ id: `m${at}`, ...said, createdAt: at < 2 ? NOW - 2 * DAY_MS : NOW });
    }
    await app.api.start();
    await sweep(app);
    expect(await messages.count({})).toBe(298);
    expect(read).toBeLessThan(20);
    await app.api.close();
  });

  it('continues behind the sessions of the run before', async () => {
    const app = await createTestApp({
      settings: { retention: { messages: 1 }, worker: { pollMs: 60_000 } },
    });
    const { store } = app.services;
    const session = { ownerId: app.user.id, name: 's', firstCreated: NOW, lastUpdated: NOW };
    for (let at = 10_000; at < 20_001; at += 1) {
      await store.collection(SESSIONS).insert({ id: `s${at}`, ...session } as never);
    }
    const messages = store.collection(MESSAGES);
    for (const sessionId of ['s10000', 's20000']) {
      for (const days of [2, 3]) {
        const said = { sessionId, ownerId: app.user.id, role: 'user', content: 'text' } as const;
        await messages.insert({ id: `${sessionId}-${days}`, ...said, createdAt: NOW - days * DAY_MS });
      }
    }
    await app.api.start();
    await sweep(app);
    expect(await messages.count({ sessionId: 's10000' })).toBe(1);
    expect(await messages.count({ sessionId: 's20000' })).toBe(2);
    await sweep(app);
    expect(await messages.count({ sessionId: 's20000' })).toBe(1);
    await app.api.close();
  });

  it('keeps everything by default', async () => {
    const app = await createTestApp();
    const events = app.services.store.collection(ANALYTICS_EVENTS);
    await events.insert({ id: 'a', userId: 'u', event: 'opened', properties: {}, createdAt: 1 });
    await app.api.start();
    await sweep(app);
    expect(await events.count({})).toBe(1);
    await app.api.close();
  });
});
