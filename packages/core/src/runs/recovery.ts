import { chargeDetails, type ReservationServices } from '../credits/reservations.ts';
import type { LeasedJob } from '../ports/queue.ts';
import { type PendingCharge, settlePending, toPromptMeta } from './charges.ts';
import { releaseIntended } from './holds.ts';
import { chargeInterrupted } from './model-call.ts';
import type { QuestProgress, QuestRecord } from './records.ts';
import { hasContent } from './states.ts';

/**
 * Recovers the billing of a crashed worker: settles its charges and releases its unused holds. Idempotent. Every hold
 * is stored in the quest before it is taken, or uses the quest id as its key. @returns all charges of the quest.
 */
export async function recoverPaidSteps(
  services: ReservationServices,
  { id, request, notes = {}, paid = [] }: QuestRecord,
  operation: string,
): Promise<readonly PendingCharge[]> {
  const { ledger, clock } = services;
  const { due = [], steps = [] } = notes;
  const charges = [...(await settlePending(ledger, due))];
  for (const step of steps) {
    const ofStep = chargeInterrupted(clock, step);
    if (ofStep !== undefined) {
      charges.push(...(await settlePending(ledger, [ofStep])));
    } else if (step.hold !== undefined) await ledger.release(step.hold);
    else if (step.isIntended === true) await releaseIntended(services, step);
  }
  if ([...steps, ...due, ...paid].some(({ key }) => key === id)) return charges;
  const { payer, requestId } = request;
  await releaseIntended(services, {
    key: id,
    account: payer.account,
    details: chargeDetails({ operation, payer, requestId }),
  });
  return charges;
}

/** Returns the usage of a quest whose worker crashed. */
export function describeCharges(
  { promptMeta, paid = [] }: QuestRecord,
  charges: readonly PendingCharge[],
): Pick<QuestProgress, 'promptMeta'> {
  const meta = toPromptMeta(promptMeta?.model ?? charges.at(-1)?.details.model, [...paid, ...charges]);
  return meta === undefined || charges.length === 0 ? {} : { promptMeta: meta };
}

/**
 * Whether another worker may have run the quest before. A lost and recreated job starts with the first fence again.
 */
export function hasRun({ notes }: QuestRecord, { fence }: LeasedJob): boolean {
  return fence > 1 || notes !== undefined;
}

/** Whether a worker left more than an unanswered call; then the quest is not restarted. */
export function hasBegun(quest: QuestRecord): boolean {
  // It has not gone on after a wait.
  if (quest.wait !== undefined) return false;
  const { due = [], outcome } = quest.notes ?? {};
  return due.length > 0 || outcome !== undefined || hasContent(quest);
}
