import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import type { Caller } from '../../contract/call.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { chooseSession, peekSession, type SessionRequest } from './choice.ts';
import { SESSIONS, type SessionRecord } from './records.ts';

const toId = (number: number): string => number.toString(16).padStart(24, '0');
const [OLD, LATEST, HERS, READ] = [toId(1), toId(2), toId(3), toId(4)] as const;
const KEY = { kind: 'key', userId: 'ada' } as Caller;
const USER = { kind: 'token', userId: 'ada' } as Caller;

async function setUp(isEmpty = false) {
  const services = { clock: createFakeClock(), ids: createFakeIds() };
  const sessions = createMemoryStore().collection(SESSIONS);
  const common = { ownerId: 'ada', name: 'n', firstCreated: 0 };
  const all: SessionRecord[] = [
    { ...common, id: OLD, lastUpdated: 1 },
    { ...common, id: LATEST, lastUpdated: 5 },
    { ...common, id: HERS, lastUpdated: 9, ownerId: 'grace', writerIds: ['ada'] },
    { ...common, id: READ, lastUpdated: 9, ownerId: 'grace', readerIds: ['ada'] },
  ];
  if (!isEmpty) for (const session of all) await sessions.insert(session);
  const choose = async (request: Partial<SessionRequest>, caller: Caller = USER) =>
    chooseSession(services, sessions, { message: 'Hi', model: 'm', ...request }, { caller } as never);
  return { services, sessions, choose };
}

describe.each([
  ['a user', USER],
  ['a key', KEY],
])('the session of a message of %s', (_, caller) => {
  it.each([OLD, HERS])('is the named one, which is marked as used: %s', async (sessionId) => {
    const { services, sessions, choose } = await setUp();
    expect(await peekSession(sessions, { sessionId }, caller)).toMatchObject({ id: sessionId });
    const { session, isNew } = await choose({ sessionId }, caller);
    expect([session.id, isNew]).toEqual([sessionId, false]);
    const used = { lastUsedModel: 'm', lastUpdated: services.clock.now() };
    expect(await sessions.get(sessionId)).toMatchObject(used);
    expect(session).toMatchObject(used);
  });

  it.each([READ, toId(99), 'no id', ''])(
    'is absent for %j, which the caller may not edit',
    async (sessionId) => {
      const { sessions, choose } = await setUp();
      expect(await peekSession(sessions, { sessionId }, caller)).toBeUndefined();
      await expect(choose({ sessionId }, caller)).rejects.toMatchObject({
        status: 404,
        message: 'Session not found',
      });
    },
  );

  it('is a new one on request, and then has no id', async () => {
    const { services, sessions, choose } = await setUp();
    expect(await peekSession(sessions, { newConversation: true }, caller)).toBeUndefined();
    const { session, isNew } = await choose({ newConversation: true, sessionId: null }, caller);
    const now = services.clock.now();
    expect([session, isNew]).toEqual([
      {
        id: expect.any(String),
        ownerId: 'ada',
        name: 'Hi',
        automaticName: 'Hi',
        lastUsedModel: 'm',
        firstCreated: now,
        lastUpdated: now,
      },
      true,
    ]);
    expect(await sessions.get(session.id)).toBeUndefined();
    await expect(choose({ newConversation: true, sessionId: OLD }, caller)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('newConversation'),
    });
    expect((await sessions.get(OLD))?.lastUpdated).toBe(1);
  });
});

describe('without a named session', () => {
  it.each([{}, { sessionId: null }, { newConversation: false }])(
    'a user continues the own latest one: %j',
    async (request) => {
      const { services, sessions, choose } = await setUp();
      expect(await peekSession(sessions, request, USER)).toMatchObject({ id: LATEST });
      const { session, isNew } = await choose(request);
      expect([session.id, isNew]).toEqual([LATEST, false]);
      expect(session.lastUpdated).toBe(services.clock.now());
      expect((await sessions.get(LATEST))?.lastUsedModel).toBe('m');
    },
  );

  it('a key begins a new one', async () => {
    const { sessions, choose } = await setUp();
    expect(await peekSession(sessions, {}, KEY)).toBeUndefined();
    expect((await choose({}, KEY)).isNew).toBe(true);
  });

  it('a user without sessions gets 404', async () => {
    const { sessions, choose } = await setUp(true);
    expect(await peekSession(sessions, {}, USER)).toBeUndefined();
    await expect(choose({})).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('no session'),
    });
  });
});
