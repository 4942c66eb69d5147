import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import type { QuestFields } from '../../test/quest-run.ts';
import { newQuest, QUESTS, type QuestRecord } from './records.ts';
import { QUEST_TEXTS } from './text-pieces.ts';
import { createTextSweep } from './text-sweep.ts';

function setUp() {
  const store = createMemoryStore();
  const texts = store.collection(QUEST_TEXTS);
  const counted = { finds: 0 };
  const sweep = createTextSweep({
    store: {
      ...store,
      collection: (definition) => {
        const collection = store.collection(definition);
        return {
          ...collection,
          find(...args) {
            if (definition.name === QUEST_TEXTS.name) counted.finds += 1;
            return collection.find(...args);
          },
        };
      },
    },
  });
  return {
    ...{ texts, sweep, counted },
    addQuest: (id: string, more: QuestFields = {}) => {
      const quest = newQuest({ id, kind: 'chat', sessionId: 's', ownerId: 'a', request: {} as never }, 1);
      return store.collection(QUESTS).insert({ ...quest, ...more } as QuestRecord);
    },
    async addPieces(questId: string, count: number) {
      for (let at = 0; at < count; at += 1) {
        const id = `${questId}:${String(at).padStart(12, '0')}`;
        await texts.insert({ id, questId, offset: at, text: 'x', spoken: {} });
      }
    },
  };
}

describe('sweep of texts', () => {
  it('deletes pieces whose quest has ended or is gone, and no others', async () => {
    const { texts, sweep, addQuest, addPieces } = setUp();
    await addQuest('closing', { status: 'stopped', jobId: 'job', liveSince: undefined });
    await addQuest('done', { status: 'done', liveSince: undefined });
    await addQuest('running', { status: 'running' });
    for (const id of ['closing', 'done', 'gone', 'running']) await addPieces(id, 2);
    await sweep.run();
    expect([...new Set((await texts.find({})).map(({ questId }) => questId))]).toEqual([
      'closing',
      'running',
    ]);
    expect([sweep.name, sweep.everyMs]).toEqual(['sweep-quest-texts', 600_000]);
  });

  it('gets behind a long line of pieces that are needed, 2,000 a run, and begins again after the last', async () => {
    const { texts, sweep, addQuest, addPieces, counted } = setUp();
    await addQuest('a', { status: 'running' });
    await addPieces('a', 2000);
    await addPieces('b', 1);
    await sweep.run();
    expect([await texts.count({ questId: 'b' }), counted.finds]).toEqual([1, 10]);
    await sweep.run();
    expect([await texts.count({ questId: 'b' }), counted.finds]).toEqual([0, 11]);
    await addPieces('0', 1);
    await sweep.run();
    expect(await texts.count({ questId: '0' })).toBe(0);
  });

  it('reads only the quests of the pieces that it has found', async () => {
    const { texts, sweep, addQuest, addPieces } = setUp();
    for (let at = 0; at < 1100; at += 1) await addQuest(`a${at}`, { status: 'running' });
    await addQuest('z', { status: 'running' });
    await addPieces('z', 1);
    await sweep.run();
    expect(await texts.count({})).toBe(1);
  });

  it('reads once where there is nothing', async () => {
    const { sweep, counted } = setUp();
    await sweep.run();
    expect(counted.finds).toBe(1);
  });
});
