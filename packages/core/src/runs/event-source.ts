import type { NewEvent, QuestEnded } from '../events/event.ts';
import { getAccountOwner } from '../events/ids.ts';
import { defineEventSource, type EventSource } from '../events/source.ts';
import { QUESTS, type QuestRecord } from './records.ts';
import { hasEnded } from './states.ts';

/**
 * Returns the events of ended quests of these kinds. Quests without a place in the API, such as the enrichment of a
 * session, cause no events.
 */
export function createQuestEventSource(
  subject: 'quest' | 'execution',
  kinds: readonly string[],
): EventSource {
  return defineEventSource<QuestRecord>({
    collection: QUESTS,
    matches: ({ status }) => status === 'done' || status === 'stopped',
    toEvents({ before, after }) {
      if (!kinds.includes(after.kind) || !hasEnded(after)) return [];
      if (before !== undefined && hasEnded(before)) return [];
      return [toEvent(subject, after)];
    },
  });
}

function toEvent(subject: 'quest' | 'execution', quest: QuestRecord): NewEvent {
  const { id, sessionId, kind, ownerId, errorCode } = quest;
  const data: QuestEnded = {
    id,
    sessionId,
    kind,
    ...getAccountOwner(quest.request.payer.account),
    userId: ownerId,
    ...(errorCode !== undefined && { errorCode }),
  };
  const outcome = quest.status === 'stopped' ? 'stopped' : quest.type === 'error' ? 'failed' : 'done';
  return { type: `${subject}.${outcome}`, key: id, data };
}
