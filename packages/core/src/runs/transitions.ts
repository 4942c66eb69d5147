import type { LeasedJob } from '../ports/queue.ts';
import type { Collection, Filter } from '../ports/store.ts';
import {
  PLAN_PAYLOAD,
  type PromptMeta,
  type QuestOutcome,
  type QuestProgress,
  type QuestRecord,
  type ToolPayload,
} from './records.ts';

/*
 * The state machine of quests: pending -> running -> done | stopped. Each transition is one guarded update, so
 * exactly one of several concurrent workers and callers succeeds; the others get undefined.
 */

type Quests = Collection<QuestRecord>;

/** The worker that may write: the owner of the job's newest lease. */
export type Holder = Pick<LeasedJob, 'id' | 'fence'>;

const NO_HOLDER = 'nobody';

const LIVE = { in: ['pending', 'running'] } as const;

function heldBy(holder: Holder): Filter<QuestRecord> {
  return { status: 'running', jobId: holder.id, fence: holder.fence };
}

/** Claims a quest for a lease. @returns undefined if it ended or a newer lease owns it. */
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

/** Saves the partial result. */
export function saveProgress(
  quests: Quests,
  id: string,
  holder: Holder,
  progress: QuestProgress & Pick<QuestRecord, 'notes'>,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(id, { ...progress, updatedAt: now }, heldBy(holder));
}

/** Ends a quest, successfully or not. */
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

/** Stops a quest from its worker, because its target was deleted. */
export function abandonQuest(
  quests: Quests,
  id: string,
  holder: Holder,
  explanation: string,
  now: number,
  promptMeta: PromptMeta | undefined,
): Promise<QuestRecord | undefined> {
  return quests.update(
    id,
    {
      status: 'stopped',
      explanation,
      liveSince: undefined,
      updatedAt: now,
      ...(promptMeta !== undefined && { promptMeta }),
    },
    heldBy(holder),
  );
}

/** Stops a quest on request of a client. */
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

/** Saves the billing of a stopped quest once. Both its worker and a recovering worker may try. */
export function closeStopped(
  quests: Quests,
  id: string,
  promptMeta: PromptMeta | undefined,
): Promise<QuestRecord | undefined> {
  const patch = { jobId: NO_HOLDER, ...(promptMeta !== undefined && { promptMeta }) };
  return quests.update(id, patch, { status: 'stopped', jobId: { not: NO_HOLDER } });
}

/** Whether a crashed worker left output. */
export function hasContent({ text = '', toolPayloads, images = [], files = [] }: QuestProgress): boolean {
  return text !== '' || toolPayloads?.some(isContent) === true || images.length > 0 || files.length > 0;
}

/** A plan is progress information, not output. */
function isContent({ type }: ToolPayload): boolean {
  return type !== PLAN_PAYLOAD;
}

/** Whether a worker may still write: it runs, or is to be closed. A stopped quest that never ran is not held. */
export function isHeld(quest: QuestRecord): boolean {
  return !hasEnded(quest) || (quest.jobId !== undefined && quest.jobId !== NO_HOLDER);
}

/** Whether a newer lease than the worker's owns the quest, or owned it until it was closed. */
export function isTakenOver({ jobId, fence = 0 }: QuestRecord, holder: Holder): boolean {
  return fence > holder.fence || (jobId !== holder.id && jobId !== NO_HOLDER);
}

export function hasEnded({ status }: QuestRecord): boolean {
  return status === 'done' || status === 'stopped';
}
