import { chargeDetails, type ReservationServices } from '../credits/reservations.ts';
import { type PendingCharge, settlePending } from './charges.ts';
import { releaseIntended } from './holds.ts';
import { chargeInterrupted } from './model-call.ts';
import type { QuestRecord } from './records.ts';

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
  const charges = [...due];
  await settlePending(ledger, due);
  for (const step of steps) {
    const ofStep = chargeInterrupted(clock, step);
    if (ofStep !== undefined) {
      await settlePending(ledger, [ofStep]);
      charges.push(ofStep);
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
