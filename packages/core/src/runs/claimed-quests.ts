import type { LeasedJob } from '../ports/queue.ts';
import type { QuestRecord } from './records.ts';

/** A claimed quest with what was read or written together with its claim. */
export interface ClaimedQuest {
  readonly quest: QuestRecord;
  /** What its work need not read again, in the format of the quest kind. */
  readonly input: unknown;
}

/** The quests that this process claimed together with other reads or writes, by the lease of their job. */
export interface ClaimedQuests {
  add(lease: LeasedJob, claimed: ClaimedQuest): void;
  get(lease: LeasedJob): ClaimedQuest | undefined;
}

export function createClaimedQuests(): ClaimedQuests {
  const claimed = new WeakMap<LeasedJob, ClaimedQuest>();
  return {
    add(lease, quest) {
      claimed.set(lease, quest);
    },
    get: (lease) => claimed.get(lease),
  };
}

/** A quest that is accepted with the lease of its job: no worker claims it before the lease ends. */
export function acceptClaimed(pending: QuestRecord, { id: jobId, fence }: LeasedJob): QuestRecord {
  return { ...pending, status: 'running', jobId, fence };
}
