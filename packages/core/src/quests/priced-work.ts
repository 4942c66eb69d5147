import type { ReservationServices } from '../credits/reservations.ts';
import type { Usage } from '../ports/ledger.ts';
import { holdForStep, type PaidStep, type StepTerms } from './holds.ts';

/** Paid work with a price by the piece, e.g. images: nothing is owed before something is made. */
export interface PricedWork extends PaidStep {
  /** Something was made, and this is what it came to in all. Whole micro-credits. */
  made(amount: number, usage: Usage): void;
}

/**
 * Holds what such work may cost.
 * @param amount whole micro-credits.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`.
 */
export async function openPricedWork(
  services: ReservationServices,
  terms: StepTerms,
  amount: number,
): Promise<PricedWork> {
  const { note, close, release } = await holdForStep(services, terms, amount);
  let made: { readonly amount: number; readonly usage: Usage } | undefined;
  return {
    note,
    get produced() {
      return made !== undefined;
    },
    made(total, usage) {
      made = { amount: note.hold === undefined ? 0 : total, usage };
    },
    due: () => ({ ...note, ...(made ?? { amount: 0, usage: {} }) }),
    close,
    release,
  };
}
