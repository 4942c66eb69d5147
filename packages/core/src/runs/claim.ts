import type { Clock } from '../ports/clock.ts';
import type { LeasedJob } from '../ports/queue.ts';
import type { Store } from '../ports/store.ts';
import { writesTo } from '../ports/write-all.ts';
import type { ClaimedQuests } from './claimed-quests.ts';
import type { QuestTask } from './quest-task.ts';
import { QUESTS, type QuestRecord } from './records.ts';
import { claimQuest, FIRST_CLAIM, toClaim } from './transitions.ts';

/**
 * Claims the quest of a job. @param job the lease, with the fence among all jobs of the quest.
 * @returns undefined if it ended or a newer lease owns it.
 */
export type ClaimQuest = (
  questId: string,
  lease: LeasedJob,
  job: LeasedJob,
) => Promise<QuestRecord | undefined>;

/** A quest that was claimed with its acceptance is not claimed again; a first claim also reads what the work begins with. */
export function createClaim(
  {
    store,
    clock,
    claimedQuests,
  }: { readonly store: Store; readonly clock: Clock; readonly claimedQuests: ClaimedQuests },
  { readFirst }: Pick<QuestTask, 'readFirst'>,
): ClaimQuest {
  const quests = store.collection(QUESTS);

  /** Before its first claim a quest is only stopped, which the guard sees: its record is the one that was read. */
  const claimFirst = async (questId: string, lease: LeasedJob, job: LeasedJob) => {
    const first = store.writeAll === undefined ? undefined : readFirst?.(lease);
    if (first === undefined) return undefined;
    const patch = toClaim(job, clock.now());
    let pending: QuestRecord | undefined;
    const isClaimed = await store.writeAll?.([
      writesTo(QUESTS).update(questId, patch, FIRST_CLAIM),
      writesTo(QUESTS).read({ id: questId }, 1, ([found]) => {
        pending = found;
      }),
      ...first.reads,
    ]);
    if (isClaimed !== true || pending === undefined) return undefined;
    const quest: QuestRecord = { ...pending, ...patch };
    claimedQuests.add(lease, { quest, input: first.getInput() });
    return quest;
  };

  return async (questId, lease, job) => {
    const isFirst = lease.fence === 1 && job.fence === 1;
    const known = isFirst
      ? (claimedQuests.get(lease)?.quest ?? (await claimFirst(questId, lease, job)))
      : undefined;
    return known ?? claimQuest(quests, questId, job, clock.now());
  };
}
