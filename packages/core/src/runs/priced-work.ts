import type { Usage } from '../ports/ledger.ts';
import { type HoldForStep, isMetered, type PaidStep, type StepOptions } from './holds.ts';

/** Unit-priced work, e.g. images. It is free until the first result. */
export interface PricedWork extends PaidStep {
  /** Records the total charge so far, in micro-credits, after a result. */
  made(amount: number, usage: Usage): void;
}

/**
 * Holds the maximum cost of the work. @param amount micro-credits.
 * @throws ApiError 422 `insufficient_credits`, `spend_cap_exceeded`.
 */
export async function openPricedWork(
  hold: HoldForStep,
  step: StepOptions,
  amount: number,
): Promise<PricedWork> {
  const { note, close, release } = await hold(step, amount);
  let made: { readonly amount: number; readonly usage: Usage } | undefined;
  return {
    note: () => note,
    isDue: (end) => end === 'finished' || made !== undefined,
    made(total, usage) {
      made = { amount: isMetered(note) ? total : 0, usage };
    },
    due: () => ({ ...note, ...(made ?? { amount: 0, usage: {} }) }),
    close,
    release,
  };
}
