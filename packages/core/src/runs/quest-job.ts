import type { NewJob } from '../ports/queue.ts';
import type { Json } from '../ports/store.ts';
import type { QuestRecord } from './records.ts';

/** Creates the job of a quest. @param more data for the worker that must not be stored in the quest. */
export function questJob(
  { id, kind, ownerId: owner, resumed }: Pick<QuestRecord, 'id' | 'kind' | 'ownerId' | 'resumed'>,
  more: Readonly<Record<string, Json | undefined>> = {},
): NewJob {
  if (resumed === undefined) return { kind, key: id, owner, payload: { questId: id, ...more } };
  // The job before the wait may not be finished yet.
  return { kind, key: `${id}:${resumed}`, owner, payload: { questId: id, resumed, ...more } };
}
