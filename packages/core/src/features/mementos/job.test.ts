import { createFakeClock, createFakeIds } from '@questline/testing';
import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../memory/store.ts';
import type { QuestRecord } from '../../runs/records.ts';
import { rememberAfterwards } from './job.ts';

const clock = createFakeClock();
const after = rememberAfterwards({ clock, ids: createFakeIds() });
const REQUEST = {
  ...{ message: 'I keep bees.', model: 'm', requestId: 'r', remembers: true, systemPrompt: 'secret' },
  payer: { account: 'user:ada', userId: 'ada' },
};
const toQuest = (request: object = {}, more: object = {}) =>
  ({
    ...{ id: 'q', ownerId: 'ada', sessionId: 's', type: 'message', kind: 'chat' },
    request: { ...REQUEST, ...request },
    ...more,
  }) as unknown as QuestRecord;

describe('mementos of a turn', () => {
  it.each<[string, QuestRecord, boolean]>([
    ['a turn of a user who wants them', toQuest(), true],
    ['a user who does not', toQuest({ remembers: false }), false],
    ['a request that says nothing about them', toQuest({ remembers: undefined }), false],
    ['a turn that failed', toQuest({}, { type: 'error' }), false],
    ['a message without text', toQuest({ message: ' \n' }), false],
  ])('follow %s', (_name, quest, expected) => {
    expect(after.applies(quest)).toBe(expected);
  });

  it('are extracted in the session of the turn, for its owner and its payer, from its message only', async () => {
    const quest = await after.create(createMemoryStore(), toQuest());
    expect(quest).toMatchObject({ kind: 'mementos', ownerId: 'ada', sessionId: 's', createdAt: clock.now() });
    const { message, model, payer, requestId } = REQUEST;
    expect(quest?.request).toMatchObject({ message, model, payer, requestId });
    expect(quest?.request).not.toHaveProperty('systemPrompt');
    expect(quest?.id).not.toBe('q');
  });
});
