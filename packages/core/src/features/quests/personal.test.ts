import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { QUESTS, type QuestRecord } from '../../runs/records.ts';
import { NO_HOLDER } from '../../runs/states.ts';
import { QUEST_TEXTS } from '../../runs/text-pieces.ts';
import { SESSIONS } from '../sessions/records.ts';
import { personalQuests } from './personal.ts';

async function setUp() {
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const stopped: string[] = [];
  const personal = personalQuests({
    store: delayed(store),
    clock: { now: () => 50 } as never,
    questEvents: { stopped: (id) => void stopped.push(id) } as Partial<QuestEvents> as QuestEvents,
  });
  const add = (id: string, status: QuestRecord['status'], more: Partial<QuestRecord> = {}) =>
    quests.insert({ id, ownerId: 'ada', status, ...more } as Partial<QuestRecord> as QuestRecord);
  return { quests, stopped, personal, add };
}

it('stops the unfinished quests of a deleted user, and no others', async () => {
  const { quests, stopped, personal, add } = await setUp();
  for (const status of ['pending', 'running', 'waiting', 'done'] as const) await add(status, status);
  await add('other', 'running', { ownerId: 'bob' });
  expect(await personal.stop?.('ada')).toBe(0);
  expect(stopped.sort()).toEqual(['pending', 'running', 'waiting']);
  expect(await quests.get('running')).toMatchObject({
    ...{ status: 'stopped', explanation: 'The account was deleted.', updatedAt: 50 },
  });
  expect([(await quests.get('done'))?.status, (await quests.get('other'))?.status]).toEqual([
    'done',
    'running',
  ]);
});

it('waits for the workers that still hold a quest that it has stopped', async () => {
  const { quests, personal, add } = await setUp();
  await add('held', 'running', { jobId: 'job' });
  await add('free', 'pending');
  await add('earlier', 'stopped', { jobId: 'job', explanation: 'This turn was cancelled.' });
  await add('other', 'stopped', {
    ...{ ownerId: 'bob', jobId: 'job', explanation: 'The account was deleted.' },
  });
  await add('done', 'done', { jobId: 'job', explanation: 'The account was deleted.' });
  expect(await personal.stop?.('ada')).toBe(1);
  await quests.update('held', { jobId: NO_HOLDER });
  expect(await personal.stop?.('ada')).toBe(0);
});

it('publishes nothing for a quest that ends in between', async () => {
  const { quests, stopped, personal, add } = await setUp();
  await add('a', 'running');
  const stop = personal.stop?.('ada');
  await new Promise(setImmediate);
  await quests.update('a', { status: 'done' });
  expect([await stop, stopped]).toEqual([0, []]);
});

it('finds the quests of a session, and the texts of a quest', async () => {
  expect((await setUp()).personal.parts).toEqual([
    { whole: SESSIONS, part: QUESTS, field: 'sessionId' },
    { whole: QUESTS, part: QUEST_TEXTS, field: 'questId' },
  ]);
});
