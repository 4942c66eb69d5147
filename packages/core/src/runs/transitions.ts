import type { Collection, Filter, Patch } from '../ports/store.ts';
import { type StoreWrite, writesTo } from '../ports/write-all.ts';
import {
  type DecidedCall,
  type PromptMeta,
  QUESTS,
  type QuestNotes,
  type QuestOutcome,
  type QuestProgress,
  type QuestRecord,
  type QuestWait,
  type WaitingCall,
} from './records.ts';
import { type Holder, NO_HOLDER, WAITING } from './states.ts';

/*
 * The state machine of quests: pending -> running -> done | stopped, and running -> waiting -> pending. Each transition
 * is one guarded update, so exactly one of several concurrent workers and callers succeeds; the others get undefined.
 */

type Quests = Collection<QuestRecord>;

/** Fences of one job. A quest that goes on has a new job with greater fences, whose first lease is 1 again. */
const FENCES_PER_JOB = 1_000_000;

/** Returns the fence of a lease among all jobs of its quest. @param resumed the number of waits before this job. */
export function getFence(leaseFence: number, resumed: number): number {
  return resumed * FENCES_PER_JOB + leaseFence;
}

const LIVE = { in: ['pending', 'running'] } as const;
const STOPPABLE = { in: [...LIVE.in, 'waiting'] } as const;

function heldBy(holder: Holder): Filter<QuestRecord> {
  return { status: 'running', jobId: holder.id, fence: holder.fence };
}

/** The fields of a quest that a lease claims. */
export function toClaim({ id: jobId, fence }: Holder, now: number) {
  return { status: 'running', jobId, fence, updatedAt: now } as const;
}

/** A quest that no lease has claimed. */
export const FIRST_CLAIM: Filter<QuestRecord> = { status: 'pending', fence: null };

/** Claims a quest for a lease. @returns undefined if it ended or a newer lease owns it. */
export function claimQuest(
  quests: Quests,
  id: string,
  holder: Holder,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(id, toClaim(holder, now), {
    status: LIVE,
    anyOf: [
      { fence: null },
      // A job that was lost and recreated. A job from before the last wait never takes the quest over.
      { jobId: { not: holder.id }, fence: { lt: getNextJobFence(holder.fence) } },
      { fence: { lt: holder.fence } },
    ],
  });
}

function getNextJobFence(fence: number): number {
  return (Math.floor(fence / FENCES_PER_JOB) + 1) * FENCES_PER_JOB;
}

/** Lets a quest wait: it has no holder, no job and no hold. */
export function pauseQuest(
  quests: Quests,
  id: string,
  holder: Holder,
  pause: QuestProgress & Pick<QuestRecord, 'paid'> & { readonly wait: QuestWait },
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(
    id,
    {
      ...pause,
      status: 'waiting',
      liveSince: WAITING,
      notes: undefined,
      jobId: undefined,
      updatedAt: now,
    },
    heldBy(holder),
  );
}

/**
 * Stores decisions; with the last one the quest is pending again, and needs a job. @param quest as it was read.
 * @returns undefined if it has changed since.
 */
export function decideCalls(
  quests: Quests,
  { id, wait, fence = 0, resumed = 0, decided = [], text = '' }: QuestRecord & { readonly wait: QuestWait },
  calls: readonly WaitingCall[],
  more: readonly DecidedCall[],
  now: number,
): Promise<QuestRecord | undefined> {
  const isComplete = calls.every(({ decision }) => decision !== undefined);
  return quests.update(
    id,
    {
      wait: { ...wait, calls },
      decided: [...decided, ...more],
      updatedAt: now,
      ...(isComplete
        ? {
            status: 'pending',
            resumed: resumed + 1,
            fence: getFence(0, resumed + 1),
            liveSince: now,
            lastWait: { lastEvent: wait.lastEvent, textLength: text.length },
          }
        : { fence: fence + 1 }),
    },
    { status: 'waiting', fence },
  );
}

/** Marks a quest as followed by a reader, for its worker. @param now epoch milliseconds. */
export async function markFollowed(quests: Quests, id: string, now: number): Promise<void> {
  await quests.update(id, { followedAt: now }, { status: LIVE });
}

/** Saves the partial result. */
export function saveProgress(
  quests: Quests,
  id: string,
  holder: Holder,
  progress: QuestProgress & Pick<QuestRecord, 'notes'> & { readonly wait?: undefined },
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(id, { ...progress, updatedAt: now }, heldBy(holder));
}

/** `saveProgress`, among other writes. */
export function writeProgress(
  id: string,
  holder: Holder,
  progress: Parameters<typeof saveProgress>[3],
  now: number,
): StoreWrite {
  return writesTo(QUESTS).update(id, { ...progress, updatedAt: now }, heldBy(holder));
}

/** Returns the quest if the worker may write. */
export function findHeld(quests: Quests, id: string, holder: Holder): Promise<QuestRecord | undefined> {
  return quests.get(id, heldBy(holder));
}

/** Expects that the worker may write, among other writes. */
export function expectHolder(id: string, holder: Holder): StoreWrite {
  return writesTo(QUESTS).expect(id, heldBy(holder));
}

/** Ends a quest, successfully or not. */
export function endQuest(
  quests: Quests,
  id: string,
  holder: Holder,
  outcome: QuestOutcome & QuestProgress,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(id, toEnd(outcome, now), heldBy(holder));
}

/** `endQuest`, among other writes. @returns the write, and the quest after it. */
export function writeEnd(
  quest: QuestRecord,
  holder: Holder,
  outcome: QuestOutcome & QuestProgress,
  now: number,
): { readonly write: StoreWrite; readonly ended: QuestRecord } {
  const patch = toEnd(outcome, now);
  const fields = Object.entries({ ...quest, ...patch }).filter(([, value]) => value !== undefined);
  return {
    write: writesTo(QUESTS).update(quest.id, patch, heldBy(holder)),
    ended: Object.fromEntries(fields) as unknown as QuestRecord,
  };
}

function toEnd(outcome: QuestOutcome & QuestProgress, now: number): Patch<QuestRecord> {
  return {
    ...outcome,
    status: 'done',
    liveSince: undefined,
    notes: undefined,
    wait: undefined,
    updatedAt: now,
  };
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

/**
 * Stops a quest on request of a client. Its worker closes it, or the one that gets its job; a quest that waited has neither, and
 * a job may be lost: the sweep finds the quest until it is closed.
 */
export function stopQuest(
  quests: Quests,
  id: string,
  explanation: string,
  now: number,
): Promise<QuestRecord | undefined> {
  return quests.update(
    id,
    { status: 'stopped', explanation, wait: undefined, liveSince: now, updatedAt: now },
    { status: STOPPABLE },
  );
}

/**
 * Saves the text and the charges of a stopped quest before its worker settles them. @returns undefined if another worker has
 * closed it.
 */
export function saveStopped(
  quests: Quests,
  id: string,
  holder: Holder,
  saved: { readonly text: string; readonly notes: QuestNotes },
): Promise<QuestRecord | undefined> {
  return quests.update(id, saved, { ...heldBy(holder), status: 'stopped' });
}

/**
 * Saves the text and the billing of a stopped quest once. Both its worker and a recovering worker may try. Payloads stay as
 * they were: a plan shows what ran when it was stopped.
 */
export function closeStopped(
  quests: Quests,
  id: string,
  { text = '', promptMeta }: Pick<QuestProgress, 'text' | 'promptMeta'>,
): Promise<QuestRecord | undefined> {
  const patch = {
    jobId: NO_HOLDER,
    liveSince: undefined,
    ...(text !== '' && { text }),
    ...(promptMeta !== undefined && { promptMeta }),
  };
  return quests.update(id, patch, { status: 'stopped', jobId: { not: NO_HOLDER } });
}
