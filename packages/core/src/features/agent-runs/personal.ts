import type { PersonalData } from '../../operations/personal-data.ts';
import type { Store } from '../../ports/store.ts';
import { QUESTS } from '../../runs/records.ts';
import { SESSIONS } from '../sessions/records.ts';
import { EXECUTION_SLOTS, STEPS } from './records.ts';

export function personalRuns({
  store,
  maxLiveExecutions,
}: {
  readonly store: Store;
  readonly maxLiveExecutions: number;
}): PersonalData {
  return {
    parts: [
      { whole: SESSIONS, part: STEPS, field: 'sessionId' },
      { whole: QUESTS, part: STEPS, field: 'executionId' },
    ],
    async eraseTraces(userId) {
      for (let slot = 0; slot < maxLiveExecutions; slot += 1) {
        await store.collection(EXECUTION_SLOTS).take(`${userId}:${slot}`);
      }
    },
  };
}
