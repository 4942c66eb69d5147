import { toCredits } from '../credits/amounts.ts';
import { wireUsage } from '../credits/wire-usage.ts';
import type { ChargeDetails, CreditLedger, Hold, Usage } from '../ports/ledger.ts';
import type { PromptMeta } from './records.ts';

/*
 * Billing of work that may run twice. A charge is stored in its quest, guarded by the worker's fence, before it is
 * settled in the ledger. A worker that takes over settles stored charges and does not repeat the model calls. The
 * hold id makes settlement idempotent.
 */

/** A charge to be settled. Plain JSON. */
export interface PendingCharge {
  readonly key: string;
  readonly account: string;
  readonly details: ChargeDetails;
  /** Absent while credits are not enforced: usage is recorded without a charge. */
  readonly hold?: Hold;
  /** True: the hold counts against budgets only. */
  readonly isFree?: true;
  /** Whole micro-credits. */
  readonly amount: number;
  readonly usage: Usage;
}

/** The charges of one run, in the order of their steps; without those from before a wait. */
export interface RunCharges {
  /** Plain JSON, for the quest's record. */
  readonly all: readonly PendingCharge[];
  add(charge: PendingCharge): void;
  /** Returns the total so far, for display. @param model absent: the run has called no model. */
  describe(model: string | undefined): PromptMeta | undefined;
  /** Not settled by this run yet. */
  unsettled(): readonly PendingCharge[];
  /** Settles these charges idempotently. Default: all that are not settled. Rejects if the ledger is unavailable. */
  settle(charges?: readonly PendingCharge[]): Promise<void>;
}

/** @param paid settled charges of the quest from before it waited: only described. */
export function createRunCharges(ledger: CreditLedger, paid: readonly PendingCharge[] = []): RunCharges {
  const all: PendingCharge[] = [];
  const settled = new Set<PendingCharge>();
  const getUnsettled = () => all.filter((charge) => !settled.has(charge));
  return {
    all,
    add(charge) {
      all.push(charge);
    },
    describe: (model) => toPromptMeta(model, [...paid, ...all]),
    unsettled: () => getUnsettled(),
    async settle(charges = getUnsettled()) {
      for (const charge of [...charges]) {
        const [paid = charge] = await settlePending(ledger, [charge]);
        all[all.indexOf(charge)] = paid;
        settled.add(paid);
      }
    },
  };
}

/**
 * Settles charges idempotently. Rejects if the ledger is unavailable.
 * @returns the charges with the amounts in the ledger: another worker may have settled a hold before, with another amount.
 */
export async function settlePending(
  ledger: CreditLedger,
  charges: readonly PendingCharge[],
): Promise<readonly PendingCharge[]> {
  const settled: PendingCharge[] = [];
  for (const charge of charges) {
    const { key, account, details, hold, amount, usage } = charge;
    if (hold === undefined) {
      await ledger.record({ account, key, details, usage });
      settled.push(charge);
      continue;
    }
    const { charged } = await ledger.settle(hold, amount, usage, details);
    settled.push(charged === amount ? charge : { ...charge, amount: charged });
  }
  return settled;
}

/** Returns the total of the calls so far, for display. */
export function toPromptMeta(
  model: string | undefined,
  charges: readonly PendingCharge[],
): PromptMeta | undefined {
  if (model === undefined) return undefined;
  if (charges.length === 0) return { model };
  const isMetered = charges.some(({ hold, isFree }) => hold !== undefined && isFree !== true);
  const amount = charges.reduce((sum, charge) => sum + charge.amount, 0);
  return {
    model,
    usage: wireUsage(sumUsage(charges)),
    ...(isMetered && { credits: toCredits(amount) }),
  };
}

function sumUsage(charges: readonly PendingCharge[]): Usage {
  const sum: Record<string, number> = {};
  for (const { usage } of charges) {
    for (const [name, count] of Object.entries(usage)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}
