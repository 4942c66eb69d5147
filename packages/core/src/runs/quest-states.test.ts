import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import type { QuestFields } from '../../test/quest-run.ts';
import type { Filter } from '../ports/store.ts';
import { newQuest, PLAN_PAYLOAD, QUESTS, type QuestProgress, type QuestRecord } from './records.ts';
import { CLOSED, CLOSING, changedSince, HELD, hasContent, isHeld, isHeldBy, isTakenOver } from './states.ts';
import { closeStopped, markFollowed } from './transitions.ts';

const ID = 'q1';
const NOW = 5000;
/** The year 275760: no sweep reaches it. */
const WAITING = 8_640_000_000_000_000;
const HOLDER = { id: 'job', fence: 2 };
const OTHERS = [
  { id: 'job', fence: 1 },
  { id: 'job', fence: 3 },
  { id: 'other', fence: 2 },
];
const RUNNING = { status: 'running', jobId: HOLDER.id, fence: HOLDER.fence } as const;

/** A store with one quest. */
async function setUp(more: QuestFields = {}) {
  const quests = createMemoryStore().collection(QUESTS);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  const quest = newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', request }, 1000);
  await quests.insert({ ...quest, ...more } as QuestRecord);
  return { quests, read: () => quests.get(ID) as Promise<QuestRecord> };
}

it('marks only quests that are pending or running as followed', async () => {
  for (const status of ['pending', 'running', 'waiting', 'done', 'stopped'] as const) {
    const { quests, read } = await setUp({ status });
    await markFollowed(quests, ID, NOW);
    const isLive = status === 'pending' || status === 'running';
    expect((await read()).followedAt).toBe(isLive ? NOW : undefined);
  }
});

it('rejects when a quest cannot be marked', async () => {
  const { quests } = await setUp(RUNNING);
  const error = new Error('away');
  const failing = { ...quests, update: () => Promise.reject(error) };
  await expect(markFollowed(failing, ID, NOW)).rejects.toBe(error);
});

/** The states of a quest: what it is for the sweep, for retention and for its worker. */
const STATES: readonly (readonly [
  name: string,
  state: QuestFields,
  is: { closing?: true; closed?: true; held?: true },
])[] = [
  ['pending', {}, { held: true }],
  ['running', RUNNING, { held: true }],
  ['waiting', { status: 'waiting', liveSince: WAITING }, { held: true }],
  ['done', { ...RUNNING, status: 'done', liveSince: undefined }, { closed: true }],
  ['stopped, with a worker', { ...RUNNING, status: 'stopped' }, { closing: true, held: true }],
  [
    'stopped, with a worker, long ago',
    { ...RUNNING, status: 'stopped', liveSince: undefined },
    { closing: true, held: true },
  ],
  [
    'stopped, with a worker whose job id is greater than that of closed ones',
    { ...RUNNING, jobId: 'zzz', status: 'stopped', liveSince: undefined },
    { closing: true, held: true },
  ],
];

describe('quest that is', () => {
  it.each(STATES)('%s', async (_name, state, { closing, closed, held }) => {
    const { quests } = await setUp(state);
    const finds = async (filter: Filter<QuestRecord>) => (await quests.count(filter)) === 1;
    expect([await finds(CLOSING), await finds(CLOSED), await finds(HELD)]).toEqual([
      closing === true,
      closed === true,
      held === true,
    ]);
  });

  it('stopped and closed is not held by a worker', async () => {
    for (const before of [RUNNING, {}]) {
      const { quests, read } = await setUp({ ...before, status: 'stopped' });
      await closeStopped(quests, ID, {});
      const counts = [await quests.count(CLOSING), await quests.count(CLOSED), await quests.count(HELD)];
      expect([...counts, isHeld(await read())]).toEqual([0, 1, 0, false]);
    }
  });

  it('stopped without a job is closed for retention once nothing waits for it', async () => {
    const { quests } = await setUp({ status: 'stopped', liveSince: undefined });
    expect([await quests.count(CLOSED), await quests.count(HELD)]).toEqual([1, 0]);
  });
});

it('finds live quests by the time of their acceptance, and waiting ones by that of their pause', async () => {
  const finds = async (more: QuestFields, time: number) => {
    const { quests } = await setUp(more);
    return (await quests.count(changedSince(time))) === 1;
  };
  expect(await finds({ liveSince: NOW }, NOW)).toBe(true);
  expect(await finds({ liveSince: NOW, updatedAt: NOW + 9 }, NOW + 1)).toBe(false);
  expect(await finds({ liveSince: WAITING, updatedAt: NOW }, NOW)).toBe(true);
  expect(await finds({ liveSince: WAITING, updatedAt: NOW }, NOW + 1)).toBe(false);
  expect(await finds({ liveSince: undefined, updatedAt: NOW }, NOW)).toBe(false);
});

describe('output of a crashed worker', () => {
  it.each<[string, QuestProgress, boolean]>([
    ['nothing', {}, false],
    ['an empty text', { text: '' }, false],
    ['text', { text: 'x' }, true],
    ['a result', { output: '' }, true],
    ['a plan', { toolPayloads: [{ type: PLAN_PAYLOAD } as never] }, false],
    ['a plan and a card', { toolPayloads: [{ type: PLAN_PAYLOAD }, { type: 'card' }] as never }, true],
    ['no payload', { toolPayloads: [], images: [], files: [] }, false],
    ['an image', { images: ['id'] }, true],
    ['a file', { files: [{ fileId: 'f' } as never] }, true],
  ])('%s', (_name, progress, isContent) => {
    expect(hasContent(progress)).toBe(isContent);
  });
});

describe('owner of a quest', () => {
  const at = (more: QuestFields) => ({ ...RUNNING, ...more }) as QuestRecord;

  it('may write while it runs, and closes it when it is stopped', () => {
    expect(isHeldBy(at({}), HOLDER)).toBe(true);
    expect(isHeldBy(at({ status: 'stopped' }), HOLDER)).toBe(true);
    for (const status of ['pending', 'waiting', 'done'] as const) {
      expect(isHeldBy(at({ status }), HOLDER)).toBe(false);
    }
    for (const other of OTHERS) expect(isHeldBy(at({}), other)).toBe(false);
    expect(isHeld(at({}))).toBe(true);
    expect(isHeld(at({ status: 'stopped' }))).toBe(true);
    expect(isHeld(at({ status: 'stopped', jobId: undefined }))).toBe(false);
    expect(isHeld(at({ status: 'pending', jobId: undefined }))).toBe(true);
  });

  it('changes with a newer lease or another job, and not when the quest is closed or was never claimed', async () => {
    expect(isTakenOver(at({}), HOLDER)).toBe(false);
    expect(isTakenOver(at({ fence: 3 }), HOLDER)).toBe(true);
    expect(isTakenOver(at({ fence: 1 }), HOLDER)).toBe(false);
    expect(isTakenOver(at({ jobId: 'other' }), HOLDER)).toBe(true);
    const { quests, read } = await setUp({ status: 'stopped' });
    await closeStopped(quests, ID, {});
    const { jobId } = await read();
    expect(isTakenOver(at({ jobId }), HOLDER)).toBe(false);
    expect(isTakenOver(at({ jobId, fence: 3 }), HOLDER)).toBe(true);
  });
});
