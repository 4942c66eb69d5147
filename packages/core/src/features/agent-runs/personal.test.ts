import { expect, it } from 'vitest';
import { delayed } from '../../../test/delayed.ts';
import { createMemoryStore } from '../../memory/store.ts';
import { QUESTS } from '../../runs/records.ts';
import { SESSIONS } from '../sessions/records.ts';
import { personalRuns } from './personal.ts';
import { EXECUTION_SLOTS, STEPS } from './records.ts';

it('deletes every slot of a deleted user, and those of no other user', async () => {
  const store = createMemoryStore();
  const slots = store.collection(EXECUTION_SLOTS);
  for (const id of ['ada:0', 'ada:1', 'ada:2', 'bob:0']) await slots.insert({ id, executionId: 'e' });
  await personalRuns({ store: delayed(store), maxLiveExecutions: 3 }).eraseTraces?.('ada', new Set());
  expect((await slots.find({})).map(({ id }) => id)).toEqual(['bob:0']);
});

it('finds the steps of a run by its session and by its quest', () => {
  expect(personalRuns({ store: createMemoryStore(), maxLiveExecutions: 3 }).parts).toEqual([
    { whole: SESSIONS, part: STEPS, field: 'sessionId' },
    { whole: QUESTS, part: STEPS, field: 'executionId' },
  ]);
});
