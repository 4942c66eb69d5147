import { setImmediate as turnOver } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import type { Remover } from '../../operations/retention.ts';
import type { Store } from '../../ports/store.ts';
import { QUESTS } from '../../runs/records.ts';
import { NO_HOLDER } from '../../runs/states.ts';
import { MESSAGES, SESSIONS } from '../sessions/records.ts';
import { questRetention } from './quest-retention.ts';

const remover = {} as Remover;

async function addQuest(store: Store, id: string, at: number, more: object = {}): Promise<void> {
  const about = {
    kind: 'image',
    sessionId: 's',
    ownerId: 'ada',
    status: 'done',
    type: 'message',
    request: {},
  };
  const quest = { ...about, id, createdAt: at, updatedAt: at, ...more };
  expect(await store.collection(QUESTS).insert(quest as never)).toBe(true);
}

async function addMessage(store: Store, at: number, questId?: string): Promise<void> {
  const message = { id: `m${at}`, sessionId: 's', ownerId: 'ada', role: 'user', content: 'x', createdAt: at };
  expect(await store.collection(MESSAGES).insert({ ...message, ...(questId && { questId }) } as never)).toBe(
    true,
  );
}

/** Ended quests of one session with these times, and one of another session. */
async function setUp(...times: number[]) {
  const store = createMemoryStore();
  for (const at of times) await addQuest(store, `q${at}`, at);
  for (const at of [1, 50, 51, 52])
    await addQuest(store, `other${at}`, at, { sessionId: 'other', kind: 'chat' });
  const elsewhere = {
    sessionId: 'other',
    ownerId: 'ada',
    role: 'user',
    content: 'x',
    createdAt: 60,
  } as const;
  await store.collection(MESSAGES).insert({ id: 'elsewhere', ...elsewhere });
  const cleaned: (readonly string[])[] = [];
  const hooks = { meanwhile: async () => {} };
  const deletion = {
    async quests(ids: readonly string[]) {
      await turnOver();
      // They are deleted afterwards.
      cleaned.push((await store.collection(QUESTS).find({ id: { in: ids } })).map(({ id }) => id).sort());
      await hooks.meanwhile();
    },
  } as never;
  const { byGroup, kind } = questRetention({ store, deletion });
  const left = async () => {
    const found = await store.collection(QUESTS).find({ sessionId: 's' });
    return found.map(({ id }) => id).sort();
  };
  const count = (bounds: object) => byGroup.count('s', bounds, remover);
  const trim = (bounds: object, limit = 10) => byGroup.trim('s', bounds, limit, remover);
  return { store, byGroup, kind, cleaned, hooks, left, count, trim };
}

describe('the retention of quests', () => {
  it('deletes those from before a time, oldest first, after what belongs to them', async () => {
    const { kind, cleaned, left, count, trim } = await setUp(3, 1, 2, 4);
    expect([kind, await count({ before: 4 })]).toEqual(['quests', 3]);
    expect(await trim({ before: 4 }, 2)).toBe(2);
    expect([cleaned, await left()]).toEqual([[['q1', 'q2']], ['q3', 'q4']]);
    expect(await trim({ before: 4 }, 2)).toBe(1);
    expect(await left()).toEqual(['q4']);
    expect([await count({ before: 4 }), await trim({ before: 4 })]).toEqual([0, 0]);
    expect(cleaned).toHaveLength(2);
  });

  it('deletes the oldest, whatever their ids', async () => {
    const { store, left, trim } = await setUp(1, 2);
    await addQuest(store, 'a', 3);
    expect([await trim({ before: 9 }, 1), await left()]).toEqual([1, ['a', 'q2']]);
  });

  it('keeps one that lives again meanwhile', async () => {
    const { store, hooks, left, trim } = await setUp(1, 2);
    hooks.meanwhile = async () => {
      await store.collection(QUESTS).update('q1', { status: 'running', liveSince: 9 });
    };
    expect([await trim({ before: 9 }), await left()]).toEqual([1, ['q1']]);
  });

  it('leaves other sessions alone, and everything without a bound', async () => {
    const { store, left, count, trim } = await setUp(0, 1);
    expect([await count({}), await trim({})]).toEqual([0, 0]);
    await trim({ before: 9 });
    expect(await left()).toEqual([]);
    expect(await store.collection(QUESTS).get('other1')).toBeDefined();
  });

  it('keeps quests that have not ended', async () => {
    const { store, cleaned, left, count, trim } = await setUp();
    await addQuest(store, 'running', 1, { status: 'running', liveSince: 1 });
    await addQuest(store, 'closing', 1, { status: 'stopped', jobId: 'job' });
    await addQuest(store, 'closed', 1, { status: 'stopped', jobId: NO_HOLDER });
    expect([await count({ before: 9 }), await trim({ before: 9 })]).toEqual([1, 1]);
    expect([cleaned, await left()]).toEqual([[['closed']], ['closing', 'running']]);
  });

  it.each<[string, object, readonly string[]]>([
    ['newer than the surplus begins', { surplus: { newest: 2, before: 9 } }, ['q3', 'q4']],
    ['one', { surplus: { newest: 1, before: 9 } }, ['q4']],
    ['fewer than the number', { surplus: { newest: 5, before: 9 } }, ['q1', 'q2', 'q3', 'q4']],
    ['too young', { surplus: { newest: 1, before: 2 } }, ['q2', 'q3', 'q4']],
    ['fewer, but old', { before: 3, surplus: { newest: 5, before: 9 } }, ['q3', 'q4']],
    ['the newest, but old', { before: 4, surplus: { newest: 3, before: 9 } }, ['q4']],
    ['the newest, of which some are young', { before: 2, surplus: { newest: 2, before: 9 } }, ['q3', 'q4']],
  ])('keeps the newest: %s', async (_, bounds, expected) => {
    const { store, left, count, trim } = await setUp(1, 2, 3, 4);
    await addQuest(store, 'running', 8, { status: 'running', liveSince: 8 });
    expect(await count(bounds)).toBe(4 - expected.length);
    expect(await trim(bounds)).toBe(4 - expected.length);
    expect(await left()).toEqual([...expected, 'running']);
  });

  it('lists the sessions', async () => {
    const { store, byGroup } = await setUp();
    const session = { id: 's', ownerId: 'ada', name: '', firstCreated: 1, lastUpdated: 1 };
    await store.collection(SESSIONS).insert(session as never);
    expect(await byGroup.list(undefined, 10)).toEqual({ groups: ['s'] });
  });
});

describe('the retention of turns', () => {
  const turn = { kind: 'chat' };

  it('keeps them until a message of a later turn is stored', async () => {
    const { store, cleaned, left, count, trim } = await setUp();
    await addQuest(store, 'first', 1, turn);
    await addQuest(store, 'image', 2);
    await addQuest(store, 'running', 3, { ...turn, status: 'running', liveSince: 3 });
    // No message is stored at all.
    expect([await count({ before: 9 }), await trim({ before: 9 })]).toEqual([1, 1]);
    expect([cleaned, await left()]).toEqual([[['image']], ['first', 'running']]);
    expect([await count({ before: 9 }), await trim({ before: 9 })]).toEqual([0, 0]);
    expect(cleaned).toHaveLength(1);
    // An earlier message is not of a later turn.
    await addMessage(store, 1, 'before');
    expect([await count({ before: 9 }), await trim({ before: 9 })]).toEqual([0, 0]);
    await addMessage(store, 2, 'second');
    expect([await count({ before: 9 }), await trim({ before: 9 })]).toEqual([1, 1]);
    expect(await left()).toEqual(['running']);
  });

  it('keeps the first turn of all', async () => {
    const { store, count } = await setUp();
    await addQuest(store, 'first', 0, turn);
    expect(await count({ before: 9 })).toBe(0);
  });

  it('deletes the one whose messages are the last', async () => {
    const { store, count, trim } = await setUp();
    await addQuest(store, 'first', 1, { ...turn, updatedAt: 3 });
    await addMessage(store, 1, 'first');
    expect([await count({ before: 9 }), await trim({ before: 9 })]).toEqual([1, 1]);
  });

  it('keeps the one that began after the last message and ended at its time', async () => {
    const { store, left, count, trim } = await setUp();
    await addMessage(store, 5, 'earlier');
    await addQuest(store, 'kept', 5, turn);
    await addQuest(store, 'old', 4, { ...turn, updatedAt: 6 });
    expect([await count({ before: 9 }), await trim({ before: 9 })]).toEqual([1, 1]);
    expect(await left()).toEqual(['kept']);
  });

  it('counts no kept turn that is too young to be deleted', async () => {
    const { store, count } = await setUp(1);
    await addQuest(store, 'kept', 9, turn);
    expect(await count({ before: 9 })).toBe(1);
  });
});
