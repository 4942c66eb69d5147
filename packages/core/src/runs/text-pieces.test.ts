import { createMemoryStore } from '@questline/core/memory';
import { describe, expect, it } from 'vitest';
import { delayed } from '../../test/delayed.ts';
import type { QuestFields } from '../../test/quest-run.ts';
import { writeAll } from '../ports/write-all.ts';
import type { PaidStepRecord } from './holds.ts';
import { newQuest, QUESTS, type QuestRecord } from './records.ts';
import {
  addPiece,
  loadText,
  QUEST_TEXTS,
  removeAllPieces,
  removePieces,
  type TextPieceRecord,
  withProgress,
} from './text-pieces.ts';

const ID = 'q1';
const HOLDER = { id: 'job', fence: 2 };
const step = (key: string, spoken?: number) =>
  ({ key, ...(spoken !== undefined && { call: { spoken, maxTokens: 9 } }) }) as unknown as PaidStepRecord;

/** A store with a running quest. */
async function setUp(more: QuestFields = {}) {
  const store = createMemoryStore();
  const quests = store.collection(QUESTS);
  const texts = store.collection(QUEST_TEXTS);
  const request = { payer: { account: 'user:a' }, requestId: 'r' } as never;
  const quest = {
    ...newQuest({ id: ID, kind: 'chat', sessionId: 's', ownerId: 'a', request }, 0),
    ...{ status: 'running', jobId: HOLDER.id, fence: HOLDER.fence, notes: {} },
    ...more,
  } as QuestRecord;
  await quests.insert(quest);
  await quests.insert({ ...quest, id: 'other', text: 'other' });
  const add = (offset: number, text: string, spoken: TextPieceRecord['spoken'] = {}, questId = ID) => {
    const id = `${questId}:${String(offset).padStart(12, '0')}`;
    return texts.insert({ id, questId, offset, text, spoken });
  };
  return { store, quests, texts, quest, add, load: () => loadText(store, quest) };
}

describe('piece of text', () => {
  it('is stored behind the text before it, once, with what each step has said', async () => {
    const { store, quests, texts, quest } = await setUp({ text: 'Hello' });
    const steps = [step('one', 7), step('two')];
    const add = () => addPiece(store, ID, HOLDER, 'Hello, you', 5, steps);
    expect(await add()).toEqual(await quests.get(ID));
    expect(await texts.find({})).toEqual([
      { id: 'q1:000000000005', questId: ID, offset: 5, text: ', you', spoken: { one: 7 } },
    ]);
    expect(await add()).toBeUndefined();
    expect(await texts.count({})).toBe(1);
    expect((await loadText(store, quest)).text).toBe('Hello, you');
  });

  it('of a worker that may not write is not stored', async () => {
    const { store, quests, texts } = await setUp();
    expect(await addPiece(store, ID, { ...HOLDER, fence: 1 }, 'x', 0, [])).toBeUndefined();
    await quests.update(ID, { status: 'stopped' });
    expect(await addPiece(store, ID, HOLDER, 'x', 0, [])).toBeUndefined();
    expect(await texts.count({})).toBe(0);
  });

  it('is deleted with all of its quest, and no other', async () => {
    for (const isStep of [true, false]) {
      const { store, texts, add } = await setUp();
      for (let at = 0; at < 3; at += 1) await add(at, 'x');
      await add(0, 'x', {}, 'q2');
      if (isStep) expect(await writeAll(store, [removePieces(ID)])).toBe(true);
      else await removeAllPieces(delayed(store), ID);
      expect((await texts.find({})).map(({ questId }) => questId)).toEqual(['q2']);
    }
  });

  it('is not deleted in one step with more than a quest can have', async () => {
    const { store, add } = await setUp();
    for (let at = 0; at < 200; at += 1) await add(at, 'x');
    expect(await writeAll(store, [removePieces(ID)])).toBe(true);
    for (let at = 0; at < 201; at += 1) await add(at, 'x');
    expect(await writeAll(store, [removePieces(ID)])).toBe(false);
  });
});

describe('stored text of a quest', () => {
  it('is that of the record and its pieces, without what the record contains and what follows a gap', async () => {
    const { add, load } = await setUp({ text: 'abcd' });
    await add(0, 'ab');
    await add(2, 'cd');
    await add(3, 'def');
    await add(6, 'g');
    await add(8, 'i');
    await add(9, 'j', {}, 'q2');
    await add(0, 'zzzzzzzzzz', {}, 'p9');
    expect(await load()).toMatchObject({ id: ID, text: 'abcdefg', notes: {} });
  });

  it('begins with the first piece where the record has none', async () => {
    const { add, load } = await setUp();
    await add(0, 'ab');
    expect(await load()).toMatchObject({ text: 'ab' });
    expect((await load()).notes).toStrictEqual({});
  });

  it('is that of the record as it is now', async () => {
    const { quests, load } = await setUp({ text: 'a' });
    await quests.update(ID, { text: 'abc' });
    expect((await load()).text).toBe('abc');
    await quests.take(ID);
    expect((await load()).text).toBe('a');
  });

  it('counts what each step had said by then, at least as much as the record', async () => {
    const steps = [step('one', 3), step('two', 9), step('three'), step('four', 4), step('five', 0)];
    const due = [{ key: 'paid' }] as never;
    const { add, load } = await setUp({ text: 'abc', notes: { due, steps } });
    await add(3, 'd', { one: 4, two: 8 });
    await add(4, 'e', { one: 5, two: 8, three: 2 });
    await add(9, 'z', { one: 99 });
    expect((await load()).notes).toEqual({
      due,
      steps: [step('one', 5), step('two', 9), step('three'), step('four', 4), step('five', 0)],
    });
  });

  it('is the record itself without pieces, or with pieces that say nothing new', async () => {
    const { quests, load, add } = await setUp({ text: 'abc', notes: { steps: [step('one', 3)] } });
    expect(await load()).toEqual(await quests.get(ID));
    await add(0, 'abc', { one: 9 });
    expect(await load()).toEqual(await quests.get(ID));
    const silent = await setUp();
    expect(await silent.load()).not.toHaveProperty('text');
  });

  it.each<[string, QuestFields]>([
    ['has not begun', { notes: undefined }],
    ['has ended', { status: 'done', jobId: undefined }],
  ])('is not read for a quest that %s', async (_name, more) => {
    const { add, load, quest } = await setUp({ text: 'abc', ...more });
    await add(3, 'd');
    expect(await load()).toBe(quest);
  });
});

describe('quest with its progress', () => {
  const running = (text?: string) => ({ read: () => (text === undefined ? undefined : { text }) });

  it('has what its worker in this process has said', async () => {
    const { store, quest, add } = await setUp({ text: 'a' });
    await add(1, 'b');
    expect(withProgress({ store, runningQuests: running('abc') }, quest)).toEqual({ ...quest, text: 'abc' });
  });

  it('has what is stored, if its worker is in another process', async () => {
    const { store, quest, add } = await setUp({ text: 'a' });
    await add(1, 'b');
    expect(await withProgress({ store, runningQuests: running() }, quest)).toMatchObject({ text: 'ab' });
  });

  it('is the record when it has ended', async () => {
    const { store, quest } = await setUp({ status: 'done', jobId: undefined });
    expect(withProgress({ store, runningQuests: running('abc') }, quest)).toBe(quest);
  });
});
