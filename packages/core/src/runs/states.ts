import type { LeasedJob } from '../ports/queue.ts';
import type { Filter } from '../ports/store.ts';
import { PLAN_PAYLOAD, type QuestProgress, type QuestRecord, type ToolPayload } from './records.ts';

/* The states of a quest, as filters and as predicates. */

/** The worker that may write: the owner of the job's newest lease. */
export type Holder = Pick<LeasedJob, 'id' | 'fence'>;

/** `jobId` of a stopped quest that is closed. */
export const NO_HOLDER = 'nobody';

/** `liveSince` of a waiting quest: the sweep never reaches it, and the quest remains one that lives. */
export const WAITING = 8_640_000_000_000_000;

/** Stopped, and its output is not stored yet: by its worker, or by the one that gets its job. */
export const CLOSING: Filter<QuestRecord> = { status: 'stopped', jobId: { not: NO_HOLDER } };

/** Ended, with its output stored and its charges settled: no worker writes to it any more. */
export const CLOSED: Filter<QuestRecord> = {
  liveSince: null,
  anyOf: [{ status: 'done' }, { status: 'stopped', jobId: null }, { status: 'stopped', jobId: NO_HOLDER }],
};

/** Every quest that is not `CLOSED`: it lives, or a worker may still write to it. */
export const HELD: Filter<QuestRecord> = {
  anyOf: [
    { liveSince: { gt: 0 } },
    { status: 'stopped', jobId: { lt: NO_HOLDER } },
    { status: 'stopped', jobId: { gt: NO_HOLDER } },
  ],
};

/** Live quests that were accepted, decided or paused at or after a time. */
export function changedSince(time: number): Filter<QuestRecord> {
  return {
    anyOf: [{ liveSince: { gte: time, lt: WAITING } }, { liveSince: WAITING, updatedAt: { gte: time } }],
  };
}

/** Whether a crashed worker left output. */
export function hasContent({
  text = '',
  output,
  toolPayloads,
  images = [],
  files = [],
}: QuestProgress): boolean {
  return (
    text !== '' ||
    output !== undefined ||
    toolPayloads?.some(isContent) === true ||
    images.length > 0 ||
    files.length > 0
  );
}

/** A plan is progress information, not output. */
function isContent({ type }: ToolPayload): boolean {
  return type !== PLAN_PAYLOAD;
}

/** Whether a worker may still write: it runs, or is to be closed. A stopped quest that never ran is not held. */
export function isHeld(quest: QuestRecord): boolean {
  return !hasEnded(quest) || (quest.jobId !== undefined && quest.jobId !== NO_HOLDER);
}

/** Whether this worker may write, or has to close the quest. */
export function isHeldBy(quest: QuestRecord, holder: Holder): boolean {
  const { status, jobId, fence } = quest;
  return (status === 'running' || status === 'stopped') && jobId === holder.id && fence === holder.fence;
}

/** Whether a newer lease than the worker's owns the quest, or owned it until it was closed. */
export function isTakenOver({ jobId, fence = 0 }: QuestRecord, holder: Holder): boolean {
  return fence > holder.fence || (jobId !== holder.id && jobId !== NO_HOLDER);
}

export function hasEnded({ status }: Pick<QuestRecord, 'status'>): boolean {
  return status === 'done' || status === 'stopped';
}
