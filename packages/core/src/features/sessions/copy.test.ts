import { createFakeIds } from '@questline/testing';
import { expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { DEFAULT_STORAGE_QUOTAS, measureRecord, STORAGE_USAGE } from '../storage/usage.ts';
import { copyMessages } from './copy.ts';
import { MESSAGES, type MessageRecord, type SessionRecord } from './records.ts';

const from = { id: 'from', ownerId: 'ada' } as SessionRecord;
const to = { id: 'to', ownerId: 'grace' } as SessionRecord;

/** The ids of the messages are in another order than their times. */
async function setUp(length: number) {
  const store = createMemoryStore();
  const messages = store.collection(MESSAGES);
  const message: Omit<MessageRecord, 'id' | 'createdAt' | 'content'> = {
    sessionId: 'from',
    ownerId: 'ada',
    role: 'user',
    questId: 'q',
    pageId: 'p',
    number: 40,
  };
  for (let at = 0; at < length; at += 1) {
    await messages.insert({ ...message, id: `m${5000 - at}`, content: `${at}`, createdAt: at });
  }
  await messages.insert({ ...message, id: 'other', ownerId: 'another', content: 'other', createdAt: 0 });
  const steps: number[] = [];
  const counting: typeof store = {
    ...store,
    async transaction(work, options) {
      const before = await messages.count({ sessionId: 'to' });
      const result = await store.transaction((inner) => work(withLateWrites(inner)), options);
      steps.push((await messages.count({ sessionId: 'to' })) - before);
      return result;
    },
  };
  await copyMessages(
    { store: counting, ids: createFakeIds(), storageQuotas: DEFAULT_STORAGE_QUOTAS },
    from,
    to,
  );
  const copies = await messages.find(
    { sessionId: 'to' },
    { order: { field: 'createdAt', direction: 'asc' }, limit: 1000 },
  );
  const usage = (await store.collection(STORAGE_USAGE).get('grace:sessions'))?.bytes ?? 0;
  return { copies, usage, steps };
}

it.each([
  [0, [0]],
  [1, [1]],
  [499, [499]],
  [500, [500, 0]],
  [501, [500, 1]],
  [999, [500, 499]],
])('copies %i messages of the owner in their order, in steps of %j', async (length, expected) => {
  const { copies, usage, steps } = await setUp(length);
  expect(copies.map(({ content, number }) => [content, number])).toEqual(
    Array.from({ length }, (_, at) => [`${at}`, at + 1]),
  );
  expect(usage).toBe(copies.reduce((sum, { content }) => sum + measureRecord(content), 0));
  expect(steps).toEqual(expected);
});

it('keeps of a message its role, text and time', async () => {
  const { copies } = await setUp(1);
  expect(copies).toEqual([
    {
      id: expect.any(String),
      sessionId: 'to',
      ownerId: 'grace',
      role: 'user',
      content: '0',
      bytes: measureRecord('0'),
      number: 1,
      createdAt: 0,
    },
  ]);
});
