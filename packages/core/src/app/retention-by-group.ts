import type { GroupRetention, Remover, RetentionBounds, RetentionRule } from '../operations/retention.ts';
import {
  BATCH,
  NO_BUDGET,
  openProgress,
  type RetentionBudget,
  type RetentionRunServices,
} from './retention-runs.ts';

/** Groups of one page. */
const GROUPS = 200;

/** Counts the records that can be deleted now. */
export async function countByGroup(
  byGroup: GroupRetention,
  bounds: RetentionBounds,
  remover: Remover,
): Promise<number> {
  let counted = 0;
  for (let after: string | undefined; ; ) {
    const { groups, next } = await byGroup.list(after, GROUPS);
    for (const group of groups) counted += await byGroup.count(group, bounds, remover);
    if (next === undefined) return counted;
    after = next;
  }
}

/** Deletes the records that the bounds do not keep, group by group. @returns their number. */
export async function removeByGroup(
  services: RetentionRunServices,
  { kind, byAge, byGroup }: RetentionRule,
  bounds: RetentionBounds,
  remover: Remover,
  budget: RetentionBudget,
): Promise<number> {
  const progress = budget === NO_BUDGET ? undefined : await openProgress(services, kind);
  if (progress?.isResting) return 0;
  // Kinds whose age has records to find are deleted one by one.
  const max = byAge !== undefined && 'find' in byAge ? budget.removals : budget.records;
  let position = progress?.position;
  let total = 0;
  let isComplete = false;
  for (let looked = 0; looked < budget.looks && !isComplete; looked += GROUPS) {
    const { groups, next } = await byGroup.list(position, GROUPS);
    for (const group of groups) {
      total += await trimGroup(services, byGroup, group, bounds, max - total, remover);
    }
    // The next run looks at these groups again.
    if (total >= max) break;
    position = next;
    isComplete = next === undefined;
  }
  await progress?.save(position, isComplete);
  return total;
}

async function trimGroup(
  { onError }: RetentionRunServices,
  byGroup: GroupRetention,
  group: string,
  bounds: RetentionBounds,
  max: number,
  remover: Remover,
): Promise<number> {
  let total = 0;
  try {
    while (total < max) {
      const limit = Math.min(BATCH, max - total);
      const removed = await byGroup.trim(group, bounds, limit, remover);
      total += removed;
      if (removed < limit) break;
    }
  } catch (error) {
    // One that fails does not keep the others.
    onError({ operation: 'retention', requestId: '', error });
  }
  return total;
}
