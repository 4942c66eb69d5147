import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { writeInTransaction } from '../../ports/write-all.ts';
import type { QuestRecord } from '../../runs/records.ts';
import { measureRecord, STORAGE_USAGE } from '../storage/usage.ts';
import { MESSAGES, SESSIONS, type SessionRecord } from './records.ts';
import { planMessages, type Question, writeMessages } from './session.ts';

const session: SessionRecord = { id: 's', ownerId: 'owner', name: 'n', firstCreated: 0, lastUpdated: 0 };
const quest = { id: 'q', sessionId: session.id, ownerId: 'writer' } as QuestRecord;
const QUESTION = { content: 'Wer bist du? ü', pageId: 'page', fileIds: ['f'] };

type Way = (
  all: Awaited<ReturnType<typeof setUp>>,
  question: Question,
  answer: string | undefined,
) => Promise<unknown>;

async function setUp(stored: SessionRecord = session) {
  const services = { clock: createFakeClock(), ids: createFakeIds() };
  const store = createMemoryStore();
  await store.collection(SESSIONS).insert(stored);
  const read = async () => {
    const messages = await store
      .collection(MESSAGES)
      .find({}, { order: { field: 'createdAt', direction: 'asc' } });
    const usage = await store.collection(STORAGE_USAGE).find({});
    return { messages, usage: usage.map(({ id, bytes }) => ({ id, bytes })) };
  };
  return { services, store, read };
}

const WAYS: readonly (readonly [string, Way])[] = [
  [
    'writeMessages',
    ({ services, store }, question, answer) => writeMessages(services, store, quest, question, answer),
  ],
  [
    'planMessages',
    ({ services, store }, question, answer) => {
      const { expected, written } = planMessages(services, session, quest, question, answer);
      return writeInTransaction(store, [...expected, ...written]);
    },
  ],
];

describe.each(WAYS)('%s', (_, write) => {
  it('adds the question and the answer of one time, for the owner of the session, and counts their bytes', async () => {
    const all = await setUp();
    await write(all, QUESTION, 'Ada.');
    const common = { sessionId: 's', ownerId: 'owner', questId: 'q', createdAt: all.services.clock.now() };
    const bytes = [measureRecord(QUESTION.content), measureRecord('Ada.')];
    expect(await all.read()).toEqual({
      messages: [
        { id: expect.any(String), role: 'user', ...QUESTION, ...common, bytes: bytes[0] },
        { id: expect.any(String), role: 'assistant', content: 'Ada.', ...common, bytes: bytes[1] },
      ],
      usage: [{ id: 'owner:sessions', bytes: (bytes[0] ?? 0) + (bytes[1] ?? 0) }],
    });
  });

  it.each([undefined, ''])('adds no answer for %j', async (answer) => {
    const all = await setUp();
    await write(all, { content: 'Hi' }, answer);
    const { messages } = await all.read();
    expect(messages.map(({ role }) => role)).toEqual(['user']);
    expect(messages[0]).not.toHaveProperty('pageId');
    expect(messages[0]).not.toHaveProperty('fileIds');
  });
});

it('writes the messages and the usage before it ends', async () => {
  const { services, store, read } = await setUp();
  await writeMessages(services, withLateWrites(store), quest, QUESTION, 'Ada.');
  expect(await read()).toMatchObject({ messages: [{}, {}], usage: [{}] });
});

it('rejects when a message cannot be written', async () => {
  const { services, store } = await setUp();
  const insert = () => Promise.reject(new Error('away'));
  const failing: typeof store = {
    ...store,
    collection: (definition) => ({
      ...store.collection(definition),
      ...(definition.name === 'messages' && { insert }),
    }),
  };
  await expect(writeMessages(services, failing, quest, QUESTION, 'Ada.')).rejects.toThrow('away');
});

it('numbers the messages after a known number', async () => {
  const all = await setUp();
  const { written } = planMessages(all.services, session, quest, QUESTION, 'Ada.', 7);
  await writeInTransaction(all.store, written);
  expect((await all.read()).messages.map(({ number }) => number)).toEqual([8, 9]);
});

it('plans nothing for a session that was deleted, or has another owner', async () => {
  const all = await setUp({ ...session, ownerId: 'another' });
  const { expected, written } = planMessages(all.services, session, quest, QUESTION, 'Ada.');
  expect(await writeInTransaction(all.store, [...expected, ...written])).toBe(false);
  await all.store.collection(SESSIONS).take('s');
  expect(await writeInTransaction(all.store, [...expected, ...written])).toBe(false);
  await writeMessages(all.services, all.store, quest, QUESTION, 'Ada.');
  expect(await all.read()).toEqual({ messages: [], usage: [] });
});
