import { describe, expect, it } from 'vitest';
import { withLateWrites } from '../../../test/late-store.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { STORAGE_USAGE } from '../storage/usage.ts';
import { MESSAGES, type MessageRecord } from './records.ts';
import { isInRange, removeMessages } from './replaced.ts';

const at = (createdAt: number, id: string) => ({ createdAt, id });

it.each([
  [at(4, 'z'), false],
  [at(5, 'b'), false],
  [at(5, 'c'), true],
  [at(5, 'd'), true],
  [at(6, 'a'), true],
  [at(7, 'c'), true],
  [at(7, 'd'), true],
  [at(7, 'e'), false],
  [at(8, 'a'), false],
])('%j from 5 c to 7 d: %s', (message, expected) => {
  expect(isInRange(message, { from: at(5, 'c'), to: at(7, 'd') })).toBe(expected);
});

describe('removeMessages', () => {
  async function fill(messages: readonly Partial<MessageRecord>[]) {
    const store = createMemoryStore();
    const common = { sessionId: 's', ownerId: 'ada', role: 'user', content: '', bytes: 10 } as const;
    for (const message of messages)
      await store.collection(MESSAGES).insert({ ...common, ...message } as MessageRecord);
    await store.collection(STORAGE_USAGE).insert({ id: 'ada:sessions', bytes: 1000 });
    const read = async () => ({
      ids: (await store.collection(MESSAGES).find({})).map(({ id }) => id).toSorted(),
      bytes: (await store.collection(STORAGE_USAGE).get('ada:sessions'))?.bytes,
    });
    return { store, read };
  }

  it('deletes those of the range in this session, and gives their storage back', async () => {
    const { store, read } = await fill([
      at(1, 'a'),
      at(2, 'b'),
      { ...at(2, 'c'), bytes: undefined as never },
      at(3, 'd'),
      at(4, 'e'),
      { ...at(2, 'other'), sessionId: 't' },
    ]);
    await removeMessages(withLateWrites(store), 's', { from: at(2, 'b'), to: at(3, 'd') });
    expect(await read()).toEqual({ ids: ['a', 'e', 'other'], bytes: 980 });
  });

  it('finds a range behind more messages than it can replace', async () => {
    const { store, read } = await fill([
      ...Array.from({ length: 1001 }, (_, one) => at(1, `${1000 + one}`)),
      at(2, 'b'),
      at(3, 'c'),
    ]);
    await removeMessages(store, 's', { from: at(2, 'b'), to: at(2, 'b') });
    expect((await read()).bytes).toBe(990);
  });

  it('changes nothing without a message in the range', async () => {
    const { store, read } = await fill([at(2, 'a'), at(2, 'd')]);
    await removeMessages(store, 's', { from: at(2, 'b'), to: at(2, 'c') });
    expect(await read()).toEqual({ ids: ['a', 'd'], bytes: 1000 });
  });
});
