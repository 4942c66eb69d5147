import { toCredits } from '../credits/amounts.ts';
import { wireUsage } from '../credits/wire-usage.ts';
import { ApiError } from '../errors.ts';
import type { CatalogueEntry } from '../models/catalogue.ts';
import type { ChargeDetails, CreditLedger, Hold, Usage } from '../ports/ledger.ts';
import type { PromptMeta } from './records.ts';

/*
 * Money of work that may be done twice. A charge is written down in its quest, under the worker's fence, before the
 * ledger is told; whoever takes over settles what is written and never asks a model again for it. The hold's own id
 * makes a repeated settlement do nothing.
 */

/** A charge that is certain. Plain JSON. */
export interface DueCharge {
  readonly key: string;
  readonly account: string;
  readonly details: ChargeDetails;
  /** Absent while metering is off: usage is written down, nothing is charged. */
  readonly hold?: Hold;
  /** Whole micro-credits. */
  readonly amount: number;
  readonly usage: Usage;
}

/** Settles charges, each once however often it is tried. Rejects when the ledger cannot be reached. */
export async function settleDue(ledger: CreditLedger, charges: readonly DueCharge[]): Promise<void> {
  for (const { key, account, details, hold, amount, usage } of charges) {
    if (hold === undefined) await ledger.record({ account, key, details, usage });
    else await ledger.settle(hold, amount, usage);
  }
}

export function unpriced(entry: CatalogueEntry): ApiError {
  return new ApiError(
    422,
    `model: '${entry.info.id}' has no price, so it cannot be used while credits are metered`,
    { code: 'model_unavailable' },
  );
}

/** What the calls so far came to, as it is shown. */
export function promptMetaOf(
  model: string | undefined,
  charges: readonly DueCharge[],
): PromptMeta | undefined {
  if (model === undefined) return undefined;
  if (charges.length === 0) return { model };
  const isMetered = charges.some(({ hold }) => hold !== undefined);
  const amount = charges.reduce((sum, charge) => sum + charge.amount, 0);
  return {
    model,
    usage: wireUsage(sumUsage(charges)),
    ...(isMetered && { credits: toCredits(amount) }),
  };
}

function sumUsage(charges: readonly DueCharge[]): Usage {
  const sum: Record<string, number> = {};
  for (const { usage } of charges) {
    for (const [name, count] of Object.entries(usage)) sum[name] = (sum[name] ?? 0) + count;
  }
  return sum;
}
