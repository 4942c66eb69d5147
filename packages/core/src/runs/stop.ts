import type { Clock } from '../ports/clock.ts';
import type { JobQueue } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import type { Incident } from '../shared/incident.ts';
import type { QuestEvents } from './quest-events.ts';
import { questJob } from './quest-job.ts';
import { QUESTS, type QuestRecord } from './records.ts';
import { stopQuest } from './transitions.ts';

export interface StopServices {
  readonly store: Store;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly questEvents: QuestEvents;
  readonly onError: (incident: Incident) => void;
}

/** Stops a quest for a client. @returns undefined if it has ended. */
export type StopQuest = (id: string, explanation: string) => Promise<QuestRecord | undefined>;

export function createStopQuest({ store, queue, clock, questEvents, onError }: StopServices): StopQuest {
  const quests = store.collection(QUESTS);
  return async (id, explanation) => {
    const stopped = await stopQuest(quests, id, explanation, clock.now());
    if (stopped === undefined) return undefined;
    questEvents.stopped(id);
    // For a quest whose job is lost, or that waited. The sweep enqueues it otherwise.
    await queue.enqueue(questJob(stopped)).catch((error: unknown) => {
      onError({ operation: `job:${stopped.kind}`, requestId: '', error });
    });
    return stopped;
  };
}
