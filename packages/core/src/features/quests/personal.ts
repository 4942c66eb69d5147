import type { PersonalData } from '../../operations/personal-data.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Store } from '../../ports/store.ts';
import type { QuestEvents } from '../../runs/quest-events.ts';
import { QUESTS } from '../../runs/records.ts';
import { isHeld } from '../../runs/states.ts';
import { QUEST_TEXTS } from '../../runs/text-pieces.ts';
import { stopQuest } from '../../runs/transitions.ts';
import { SESSIONS } from '../sessions/records.ts';

const FORGOTTEN = 'The account was deleted.';

export function personalQuests({
  store,
  clock,
  questEvents,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly questEvents: QuestEvents;
}): PersonalData {
  const quests = store.collection(QUESTS);
  return {
    parts: [
      { whole: SESSIONS, part: QUESTS, field: 'sessionId' },
      { whole: QUESTS, part: QUEST_TEXTS, field: 'questId' },
    ],
    async stop(ownerId) {
      for (const { id } of await quests.find({
        ownerId,
        status: { in: ['pending', 'running', 'waiting'] },
      })) {
        if ((await stopQuest(quests, id, FORGOTTEN, clock.now())) !== undefined) questEvents.stopped(id);
      }
      // A worker that still holds a stopped quest charges for it, and may store a result.
      const stopped = await quests.find({ ownerId, status: 'stopped' });
      return stopped.filter((quest) => quest.explanation === FORGOTTEN && isHeld(quest)).length;
    },
  };
}
