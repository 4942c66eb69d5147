import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { SESSIONS, type SessionRecord } from '../sessions/records.ts';
import { enrichAfterwards } from './job.ts';
import { ENRICHMENT_SLOTS } from './records.ts';

const OWNER = 'ada';
const SESSION = 's'.repeat(24);

/** A session, the turn after which it is enriched, and a run that has the slot of the session. */
async function setUp() {
  const store = createMemoryStore();
  const { create } = enrichAfterwards({ clock: createFakeClock(0), ids: createFakeIds() });
  const session = { id: SESSION, ownerId: OWNER, name: 'n', firstCreated: 0, lastUpdated: 0 };
  await store.collection(SESSIONS).insert(session as SessionRecord);
  const request = { model: 'm', payer: { account: 'user:ada', userId: OWNER }, requestId: 'r' };
  const turn = { id: 'turn', sessionId: SESSION, ownerId: OWNER, request } as unknown as QuestRecord;
  const former = { ...turn, id: 'former', kind: 'enrichment', status: 'running', createdAt: 0, updatedAt: 0 };
  await store.collection(QUESTS).insert(former as QuestRecord);
  await store.collection(ENRICHMENT_SLOTS).insert({ id: SESSION, questId: 'former' });
  const read = async () => (await store.collection(ENRICHMENT_SLOTS).get(SESSION))?.questId;
  return { store, read, begin: async () => (await create(store, turn))?.id };
}

describe('slot of an enrichment', () => {
  it('is kept by a run that has not ended', async () => {
    const { begin, read } = await setUp();
    expect([await begin(), await read()]).toEqual([undefined, 'former']);
  });

  it.each([
    ['has ended', 'update'],
    ['is deleted', 'take'],
  ] as const)('belongs to the next run when the run that had it %s', async (_title, end) => {
    const { store, begin, read } = await setUp();
    const quests = store.collection(QUESTS);
    await (end === 'take' ? quests.take('former') : quests.update('former', { status: 'done' }));
    const next = await begin();
    expect(next).toBeDefined();
    expect(await read()).toBe(next);
  });

  it('is taken over by one of many runs, where only guards of single steps separate them', async () => {
    const { store, begin, read } = await setUp();
    await store.collection(QUESTS).take('former');
    const begun = await Promise.all(Array.from({ length: 20 }, begin));
    expect(begun.filter((id) => id !== undefined)).toEqual([await read()]);
  });
});
