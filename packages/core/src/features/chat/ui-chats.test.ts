import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import { QUESTS } from '../../runs/records.ts';
import { NO_HOLDER } from '../../runs/states.ts';
import { MESSAGES, SESSIONS } from '../sessions/records.ts';
import { createUiChats } from './ui-chats.ts';

const NOW = Date.UTC(2026, 10, 22);
const S = 'a'.repeat(24);
const UNKNOWN = 'f'.repeat(24);
const BUSY = { status: 409, message: expect.stringContaining('still being written') };

/** The session `S` of ada, with a write share for bob and a read share for eve. */
async function setUp() {
  const store = createMemoryStore();
  const clock = createFakeClock(NOW);
  const purging = { keys: [] as string[] };
  const asked: string[] = [];
  const queue = {
    async findKeys(keys: readonly string[]) {
      asked.push(...keys);
      return purging.keys;
    },
  };
  const chats = createUiChats({ store, queue, clock, ids: createFakeIds() });
  const addSession = (id: string, more: object = {}) =>
    store.collection(SESSIONS).insert({
      ...{ id, ownerId: 'ada', name: 'A', firstCreated: 1, lastUpdated: 1 },
      ...more,
    } as never);
  const addQuest = (id: string, more: object = {}) =>
    store.collection(QUESTS).insert({
      ...{ id, kind: 'chat', sessionId: S, ownerId: 'ada', status: 'running', type: 'message', request: {} },
      ...{ liveSince: NOW, createdAt: NOW, updatedAt: NOW },
      ...more,
    } as never);
  const addMessage = (at: number, questId: string, role = 'user') =>
    store.collection(MESSAGES).insert({
      ...{ id: `m${at}`, sessionId: S, ownerId: 'ada', role, content: 'x', createdAt: at, questId },
    } as never);
  const next = (more: object = {}, userId = 'ada') =>
    chats.next(userId, {
      ...{ id: S, trigger: 'submit-message', messages: { role: 'user', parts: [] } },
      ...more,
    } as never);
  await addSession(S);
  return { store, clock, chats, purging, asked, addSession, addQuest, addMessage, next };
}

const STOPPED = { status: 'stopped', liveSince: undefined, jobId: 'job' };

describe('the session of a chat', () => {
  it('is named by its id or by a name of the user', async () => {
    const { chats, next, addSession } = await setUp();
    expect(await chats.find('ada', S, 'edit')).toMatchObject({ id: S });
    expect(await chats.find('ada', UNKNOWN, 'read')).toBeUndefined();
    expect(await chats.find('ada', 'rivers', 'read')).toBe('new');
    const { session, replaced, ids } = await next({ id: 'rivers' });
    expect([session, replaced]).toEqual([undefined, undefined]);
    expect(ids.questId).toMatch(/^[0-9a-f]{24}$/);
    expect(ids.newSessionId).toMatch(/^[0-9a-f]{24}$/);
    expect((await next({ id: 'rivers' })).ids.newSessionId).toBe(ids.newSessionId);
    expect((await next({ id: 'lakes' })).ids.newSessionId).not.toBe(ids.newSessionId);
    await addSession(ids.newSessionId);
    expect(await chats.find('ada', 'rivers', 'read')).toMatchObject({ id: ids.newSessionId });
    // A name is that of one user.
    expect(await chats.find('bob', 'rivers', 'read')).toBe('new');
    expect((await next({ id: 'rivers' }, 'bob')).ids.newSessionId).not.toBe(ids.newSessionId);
  });

  it('is that of another user only with a share', async () => {
    const { chats, next, store } = await setUp();
    for (const use of ['read', 'edit'] as const) expect(await chats.find('bob', S, use)).toBeUndefined();
    await expect(next({}, 'bob')).rejects.toMatchObject({ status: 404, message: 'Session not found' });
    await store.collection(SESSIONS).update(S, { readerIds: ['bob'] });
    expect(await chats.find('bob', S, 'read')).toMatchObject({ id: S });
    expect(await chats.find('bob', S, 'edit')).toBeUndefined();
  });
});

describe('the running turn of a chat', () => {
  it('is a turn that lives', async () => {
    const { chats, addQuest } = await setUp();
    await addQuest('image', { kind: 'image' });
    await addQuest('ended', { status: 'done', liveSince: undefined });
    await addQuest('elsewhere', { sessionId: UNKNOWN });
    expect(await chats.findRunning('ada', S, 'edit')).toBeUndefined();
    await addQuest('turn', { liveSince: 0 });
    expect(await chats.findRunning('ada', S, 'edit')).toMatchObject({ id: 'turn' });
    expect(await chats.findRunning('bob', S, 'read')).toBeUndefined();
    expect(await chats.findRunning('ada', 'a-name', 'read')).toBeUndefined();
    expect(await chats.findUnstored(S)).toMatchObject({ id: 'turn' });
  });

  it('may be stopped with its messages not stored yet', async () => {
    const { chats, addQuest, clock } = await setUp();
    await addQuest('image', { ...STOPPED, kind: 'image' });
    await addQuest('closed', { ...STOPPED, jobId: NO_HOLDER });
    expect(await chats.findUnstored(S)).toBeUndefined();
    await addQuest('closing', STOPPED);
    expect(await chats.findUnstored(S)).toMatchObject({ id: 'closing' });
    expect(await chats.findRunning('ada', S, 'edit')).toBeUndefined();
    await clock.advance(120_000);
    expect(await chats.findUnstored(S)).toMatchObject({ id: 'closing' });
    await clock.advance(1);
    expect(await chats.findUnstored(S)).toBeUndefined();
  });
});

describe('the next turn of a chat', () => {
  it.each(['chat', 'image'])('begins after the running quest: %s', async (kind) => {
    const { next, addQuest, store } = await setUp();
    await addQuest('elsewhere', { kind, sessionId: UNKNOWN });
    await addQuest('closing', { ...STOPPED, sessionId: UNKNOWN });
    for (let at = 0; at < 12; at += 1) await addQuest(`ended${at}`, { status: 'done', liveSince: undefined });
    expect((await next()).session).toMatchObject({ id: S });
    await addQuest('running', { kind, liveSince: 0 });
    await expect(next()).rejects.toMatchObject(BUSY);
    // A stopped turn may stay live until its worker has closed it.
    await store.collection(QUESTS).update('running', { status: 'stopped', jobId: NO_HOLDER });
    expect((await next()).session).toMatchObject({ id: S });
  });

  it('waits up to five seconds for a stopped turn', async () => {
    const { next, addQuest, store, clock } = await setUp();
    await addQuest('closing', STOPPED);
    const stored = next();
    await clock.advance(0);
    await clock.advance(4900);
    expect(clock.pending).toBe(1);
    await store.collection(QUESTS).update('closing', { jobId: NO_HOLDER });
    await clock.advance(100);
    expect((await stored).session).toMatchObject({ id: S });
    await store.collection(QUESTS).update('closing', { jobId: 'job' });
    const refused = expect(next()).rejects.toMatchObject(BUSY);
    await clock.advance(0);
    await clock.advance(5000);
    await refused;
    expect(clock.pending).toBe(0);
  });

  it('looks ten times a second', async () => {
    const { next, addQuest, clock, chats, store } = await setUp();
    await addQuest('closing', STOPPED);
    const waiting = next();
    await clock.advance(0);
    await clock.advance(99);
    await store.collection(QUESTS).update('closing', { jobId: NO_HOLDER });
    expect(await chats.findUnstored(S)).toBeUndefined();
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(clock.pending).toBe(0);
    await waiting;
  });

  it('waits for the deletion of an earlier session with its id', async () => {
    const { next, purging, asked, clock } = await setUp();
    purging.keys = ['any'];
    expect((await next()).session).toMatchObject({ id: S });
    expect(asked).toEqual([]);
    const refused = expect(next({ id: 'rivers' })).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining('not yet removed'),
    });
    await clock.advance(0);
    await clock.advance(5000);
    await refused;
    const begun = next({ id: 'rivers' });
    await clock.advance(0);
    await clock.advance(200);
    purging.keys = [];
    await clock.advance(100);
    const { ids } = await begun;
    expect(new Set(asked)).toEqual(new Set([`purge:${ids.newSessionId}`]));
  });

  it('has an id that follows from the session and its last message', async () => {
    const { next, addMessage, store } = await setUp();
    const first = (await next()).ids;
    expect(first).toEqual({ questId: expect.stringMatching(/^[0-9a-f]{24}$/), newSessionId: S });
    expect((await next()).ids).toEqual(first);
    await addMessage(10, 'q1');
    const second = (await next()).ids.questId;
    await addMessage(20, 'q1');
    const third = (await next()).ids.questId;
    await addMessage(30, 'q2');
    const fourth = (await next()).ids.questId;
    await store.collection(MESSAGES).update('m30', { questId: 'q3' });
    expect((await next()).ids.questId).not.toBe(fourth);
    const about = { sessionId: UNKNOWN, ownerId: 'ada', role: 'user', content: 'x' } as const;
    await store.collection(MESSAGES).update('m30', { questId: 'q2' });
    await store.collection(MESSAGES).insert({ id: 'elsewhere', ...about, questId: 'q', createdAt: 99 });
    expect((await next()).ids.questId).toBe(fourth);
    // A session that has the same id later.
    await store.collection(SESSIONS).update(S, { firstCreated: 2 });
    const fifth = (await next()).ids.questId;
    expect(new Set([first.questId, second, third, fourth, fifth]).size).toBe(5);
    await addMessage(25, 'q9');
    expect((await next()).ids.questId).toBe(fifth);
  });

  it('follows turns that were stopped without a message', async () => {
    const { next, addQuest, store } = await setUp();
    const { questId } = (await next()).ids;
    await addQuest(questId, { ...STOPPED, jobId: NO_HOLDER });
    const second = (await next()).ids.questId;
    expect(second).not.toBe(questId);
    await addQuest(second, { ...STOPPED, jobId: NO_HOLDER });
    const third = (await next()).ids.questId;
    expect([questId, second]).not.toContain(third);
    // It was stored meanwhile, and lives in no list.
    await store.collection(QUESTS).update(second, { status: 'pending' });
    await expect(next()).rejects.toMatchObject(BUSY);
  });

  it('replaces messages when it edits or regenerates', async () => {
    const { next, addMessage } = await setUp();
    await addMessage(1, 'q1');
    await addMessage(2, 'q1', 'assistant');
    const replaces = { from: { id: 'm1', createdAt: 1 }, to: { id: 'm2', createdAt: 2 } };
    expect((await next()).replaced).toBeUndefined();
    const edit = await next({ messageId: 'm1' });
    expect(edit.replaced).toEqual({ replaces, pageId: 'q1.question' });
    expect(edit.session).toMatchObject({ id: S });
    const repeat = await next({ trigger: 'regenerate-message' });
    expect(repeat.replaced).toMatchObject({ replaces, repeated: { id: 'm1' } });
    await expect(next({ messageId: 'unknown' })).rejects.toMatchObject({ status: 422 });
  });
});
