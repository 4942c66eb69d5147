import type { LeasedJob } from '../ports/queue.ts';
import type { Collection, Filter } from '../ports/store.ts';
import {
  PLAN_PAYLOAD,
  type QuestOutcome,
  type QuestProgress,
  type QuestRecord,
  type ToolPayload,
} from './records.ts';

/*
 * pending -> running -> done | stopped, never back. Every move is one guarded update, so that of any number of workers
 * and callers exactly one makes it; whoever lost gets undefined and changes nothing.
 */

type Quests = Collection<QuestRecord>;

/** The worker that may write: the holder of the job's newest lease. */
export type Holder = Pick<LeasedJob, 'id' | 'fence'>;

const NOBODY = 'nobody';

const LIVE = { in: ['pending', 'running'] } as const;

function heldBy(holder: Holder): Filter<QuestRecord> {
  return { status: 'running', jobId: holder.id, fence: holder.fence };
}

/** Takes a quest over for a lease. @returns undefined when it has ended, or a newer lease has it. */
export function claimQuest(
  quests: Quests,
  id: string,
  holder: Holder,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(
    id,
    { status: 'running', jobId: holder.id, fence: holder.fence, updatedAt: now },
    { status: LIVE, anyOf: [{ jobId: { not: holder.id } }, { fence: { lt: holder.fence } }] },
  );
}

/** Writes down what there is so far. */
export function saveProgress(
  quests: Quests,
  id: string,
  holder: Holder,
  progress: QuestProgress & Pick<QuestRecord, 'notes'>,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(id, { ...progress, updatedAt: now }, heldBy(holder));
}

/** Ends a quest, well or not. */
export function endQuest(
  quests: Quests,
  id: string,
  holder: Holder,
  outcome: QuestOutcome & QuestProgress,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(
    id,
    { ...outcome, status: 'done', liveSince: undefined, notes: undefined, updatedAt: now },
    heldBy(holder),
  );
}

/** Stops a quest from within: what it was for is gone. */
export function abandonQuest(
  quests: Quests,
  id: string,
  holder: Holder,
  explanation: string,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(
    id,
    { status: 'stopped', explanation, liveSince: undefined, updatedAt: now },
    heldBy(holder),
  );
}

/** Stops a quest from outside, whoever works on it. */
export function stopQuest(
  quests: Quests,
  id: string,
  explanation: string,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(
    id,
    { status: 'stopped', explanation, liveSince: undefined, updatedAt: now },
    { status: LIVE },
  );
}

/** Whoever comes first writes down what belongs to a stopped quest; there may be two: its worker, and the one after that. */
export function closeStopped(quests: Quests, id: string): Promise<QuestRecord | undefined> {
  return quests.update(id, { jobId: NOBODY }, { status: 'stopped', jobId: { not: NOBODY } });
}

/** Whether a worker that vanished has left something. */
export function hasContent({ text = '', toolPayloads, images = [], files = [] }: QuestProgress): boolean {
  return text !== '' || toolPayloads?.some(isContent) === true || images.length > 0 || files.length > 0;
}

/** A plan tells of the work, and is none of its fruits. */
function isContent({ type }: ToolPayload): boolean {
  return type !== PLAN_PAYLOAD;
}

export function hasEnded({ status }: QuestRecord): boolean {
  return status === 'done' || status === 'stopped';
}
