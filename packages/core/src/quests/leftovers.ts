import { chargeDetails, type ReservationServices } from '../credits/reservations.ts';
import { settleDue } from './charges.ts';
import { releaseIntended } from './holds.ts';
import { dueOfVanished } from './model-call.ts';
import type { QuestRecord } from './records.ts';

/**
 * Settles what the worker before this one owed, and gives back what it held for nothing. Safe to repeat. Whatever that
 * worker held, or was about to, is written down in the quest, or stands under the quest's own id.
 */
export async function clearLeftovers(
  services: ReservationServices,
  { id, request, notes = {} }: QuestRecord,
  operation: string,
): Promise<void> {
  const { ledger } = services;
  const { due = [], steps = [] } = notes;
  await settleDue(ledger, due);
  for (const step of steps) {
    const ofStep = dueOfVanished(step);
    if (ofStep !== undefined) await settleDue(ledger, [ofStep]);
    else if (step.hold !== undefined) await ledger.release(step.hold);
    else if (step.isIntended === true) await releaseIntended(services, step);
  }
  if ([...steps, ...due].some(({ key }) => key === id)) return;
  const { payer, requestId } = request;
  await releaseIntended(services, {
    key: id,
    account: payer.account,
    details: chargeDetails({ operation, payer, requestId }),
  });
}
