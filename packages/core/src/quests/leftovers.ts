import { chargeDetails, type ReservationServices } from '../credits/reservations.ts';
import { settleDue } from './charges.ts';
import { dueOfVanished } from './model-call.ts';
import type { QuestRecord } from './records.ts';

/**
 * Settles what the worker before this one owed, and gives back what it held for nothing. Safe to repeat. Whatever that
 * worker held is written down in the quest, or stands under the quest's own id.
 */
export async function clearLeftovers(
  { ledger, clock }: ReservationServices,
  { id, request, notes = {} }: QuestRecord,
  operation: string,
): Promise<void> {
  const { due = [], steps = [] } = notes;
  await settleDue(ledger, due);
  for (const step of steps) {
    const ofStep = dueOfVanished(step);
    if (ofStep !== undefined) await settleDue(ledger, [ofStep]);
    else if (step.hold !== undefined) await ledger.release(step.hold);
  }
  if ([...steps, ...due].some(({ key }) => key === id)) return;
  const { payer, requestId } = request;
  // The same key answers the same hold again: asking for nothing finds what there is.
  const first = await ledger.hold({
    account: payer.account,
    amount: 0,
    key: id,
    expiresAt: clock.now(),
    details: chargeDetails({ operation, payer, requestId }),
  });
  if (first.outcome === 'held') await ledger.release(first.hold);
}
