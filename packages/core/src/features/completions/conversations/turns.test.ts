import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../../memory/store.ts';
import { StorageUnavailable, type Store } from '../../../ports/store.ts';
import { QUESTS, type QuestRecord } from '../../../runs/records.ts';
import { STORAGE_USAGE } from '../../storage/usage.ts';
import { packOutput } from '../responses/output.ts';
import type { ResponseRecord } from '../responses/records.ts';
import { findAllEntries, getEntry } from './entries.ts';
import { CONVERSATION_ENTRIES, CONVERSATIONS, type ConversationRecord } from './records.ts';
import { addTurn, checkUnlocked, lockConversation } from './turns.ts';
import { addEntries, toGivenEntries } from './write.ts';

const OWNER = 'o';
const LOCKED = { status: 409, extra: { code: 'conversation_locked' } };

async function setUp(more: Partial<ConversationRecord> = {}) {
  const store = createMemoryStore();
  const counts = { sequence: 0, items: 0, characters: 0, bytes: 0, createdAt: 0 };
  for (const id of ['c1', 'c2']) {
    await store.collection(CONVERSATIONS).insert({ id, ownerId: OWNER, metadata: {}, ...counts, ...more });
  }
  const read = () => store.collection(CONVERSATIONS).get('c1');
  return { store, read };
}

const addQuest = (store: Store, more: object) =>
  store.collection(QUESTS).insert({ id: 'q1', ownerId: OWNER, ...more } as unknown as QuestRecord);

describe('a conversation', () => {
  it.each(['pending', 'running', 'waiting'])('is locked while its response is %s', async (status) => {
    const { store } = await setUp();
    const given = { id: 'c1', ownerId: OWNER, sequence: 0 };
    await checkUnlocked(store, given);
    await checkUnlocked(store, { ...given, current: 'q1' });
    await addQuest(store, { status });
    await expect(checkUnlocked(store, { ...given, current: 'q1' })).rejects.toMatchObject(LOCKED);
    await checkUnlocked(store, given);
  });

  it.each(['done', 'stopped'])('is unlocked when its response is %s', async (status) => {
    const { store } = await setUp();
    await addQuest(store, { status });
    await checkUnlocked(store, { id: 'c1', ownerId: OWNER, sequence: 0, current: 'q1' });
  });

  it('gets a response only as it was read', async () => {
    const { store, read } = await setUp({ sequence: 3 });
    const given = { id: 'c1', ownerId: OWNER, sequence: 3 };
    for (const other of [{ ownerId: 'x' }, { sequence: 2 }, { current: 'q0' }]) {
      await expect(lockConversation(store, { ...given, ...other }, 'q1')).rejects.toMatchObject(LOCKED);
    }
    expect(await read()).not.toHaveProperty('current');
    await lockConversation(store, given, 'q1');
    expect(await read()).toMatchObject({ current: 'q1' });
    await expect(lockConversation(store, given, 'q2')).rejects.toMatchObject(LOCKED);
    await lockConversation(store, { ...given, current: 'q1' }, 'q2');
    expect(await read()).toMatchObject({ current: 'q2' });
  });
});

describe('the turn of a response', () => {
  const response = {
    ...{ id: 'q1', ownerId: OWNER, input: '["a"]' },
    conversation: { id: 'c1', context: '{}' },
  } as unknown as ResponseRecord;
  const quest = (more: Partial<QuestRecord> = {}) =>
    ({ id: 'q1', status: 'done', output: packOutput({ parts: [] }), ...more }) as unknown as QuestRecord;
  const getBytes = async (store: Store) =>
    (await store.collection(STORAGE_USAGE).get(`${OWNER}:sessions`))?.bytes ?? 0;

  it.each([
    { status: 'stopped' },
    { status: 'running' },
    { type: 'error' },
  ] as readonly Partial<QuestRecord>[])('adds nothing if it has failed or was stopped: %j', async (more) => {
    const { store } = await setUp();
    await addTurn(store, quest(more), response);
    expect(await store.collection(CONVERSATION_ENTRIES).count({})).toBe(0);
    expect(await getBytes(store)).toBe(0);
  });

  it('adds its items, in order and to its own conversation, beyond the limits too', async () => {
    const { store, read } = await setUp({ items: 10_000 });
    await addTurn(store, quest(), response);
    const key = { id: 'c1', ownerId: OWNER };
    const entries = await findAllEntries(store, key);
    expect(entries).toMatchObject([
      { id: 'q1:0', sequence: 1, content: { type: 'items', items: ['a'] } },
      { id: 'q1:answer', sequence: 2, content: { type: 'answer', output: { parts: [] } } },
    ]);
    expect(await read()).toMatchObject({ sequence: 2, items: 10_002 });
    const records = await store.collection(CONVERSATION_ENTRIES).find({});
    expect(await getBytes(store)).toBe(records.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(await getEntry(store, key, 'q1:0')).toMatchObject({ source: 'q1' });
    for (const other of [{ id: 'c2' }, { ownerId: 'x' }]) {
      expect(await getEntry(store, { ...key, ...other }, 'q1:0')).toBeUndefined();
    }
  });

  it('adds nothing to a conversation of another owner', async () => {
    const { store } = await setUp();
    await addTurn(store, quest(), { ...response, ownerId: 'x' });
    expect(await store.collection(CONVERSATION_ENTRIES).count({})).toBe(0);
    const entries = toGivenEntries('s', ['a']);
    expect(await addEntries(store, { id: 'c1', ownerId: 'x' }, entries)).toBe(false);
  });

  it('fails with the count of its bytes', async () => {
    const { store } = await setUp();
    const away: Store = {
      ...store,
      collection: (shape) => {
        if ((shape.name as string) === STORAGE_USAGE.name) throw new StorageUnavailable('away');
        return store.collection(shape);
      },
    };
    await expect(addTurn(away, quest(), response)).rejects.toThrow('away');
  });
});
