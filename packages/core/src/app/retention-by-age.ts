import type { AgedRecord, AgeRetention, Remover, RetentionRule } from '../operations/retention.ts';
import {
  BATCH,
  NO_BUDGET,
  openProgress,
  type RetentionBudget,
  type RetentionRunServices,
} from './retention-runs.ts';

/** Counts the records from before a time that can be deleted now. */
export async function countByAge(byAge: AgeRetention, before: number, remover: Remover): Promise<number> {
  if ('count' in byAge) return byAge.count(before);
  let counted = 0;
  for (let after: AgedRecord | undefined; ; ) {
    const page = await byAge.find(before, BATCH, after);
    counted += await remover.count(page.map(({ id }) => id));
    if (page.length < BATCH) return counted;
    after = page.at(-1);
  }
}

/** Deletes the records from before a time. Goes on behind those that stay, also in the next run. @returns their number. */
export async function removeByAge(
  services: RetentionRunServices,
  { kind, byAge }: RetentionRule,
  before: number,
  remover: Remover,
  budget: RetentionBudget,
): Promise<number> {
  if (byAge === undefined) return 0;
  let total = 0;
  if ('removeBefore' in byAge) {
    while (total < budget.records) {
      const removed = await byAge.removeBefore(before, BATCH);
      total += removed;
      if (removed < BATCH) break;
    }
    return total;
  }
  const progress = budget === NO_BUDGET ? undefined : await openProgress(services, `${kind}:age`);
  let after = toRecord(progress?.position);
  for (let looked = 0; looked < budget.looks && total < budget.removals; looked += BATCH) {
    const page = await byAge.find(before, BATCH, after);
    const ids = page.map(({ id }) => id);
    total += await remover.removeEach(ids, before, byAge.remove);
    after = page.length < BATCH ? undefined : page.at(-1);
    if (after === undefined) break;
  }
  const position = toPosition(after);
  if (progress?.position !== position) await progress?.save(position, position === undefined);
  return total;
}

function toPosition(record: AgedRecord | undefined): string | undefined {
  return record && `${record.time}:${record.id}`;
}

function toRecord(position: string | undefined): AgedRecord | undefined {
  if (position === undefined) return undefined;
  const [time = '', id = ''] = position.split(':');
  return { id, time: Number(time) };
}
