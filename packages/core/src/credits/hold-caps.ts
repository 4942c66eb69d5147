import type { CapUnit, HoldCap } from '../ports/caps.ts';
import type { HoldRequest, Usage } from '../ports/ledger.ts';

/**
 * Ledgers check the caps of a hold.
 * @throws RangeError for equal ids, or an amount or a limit that is not a whole number of 0 or more.
 */
export function assertHoldCaps({ cap, caps = [] }: Pick<HoldRequest, 'cap' | 'caps'>): void {
  // Checked for every hold, and most have no cap.
  if (caps.length === 0) return;
  const ids = [...caps.map(({ id }) => id), ...(cap === undefined ? [] : [cap.id])];
  if (new Set(ids).size < ids.length)
    throw new RangeError(`caps: expected distinct ids, got ${ids.join(', ')}`);
  for (const { id, amount, limit } of caps) {
    if (isCount(amount) && isCount(limit)) continue;
    throw new RangeError(`caps: expected whole numbers of 0 or more for ${id}, got ${amount} of ${limit}`);
  }
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** Returns the tokens of all classes. Undefined: the usage is unknown. */
export function countTokens(usage: Usage | undefined): number | undefined {
  if (usage === undefined) return undefined;
  const { input = 0, output = 0, cachedInput = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return input + output + cachedInput + cacheWrite + reasoning;
}

/** Returns what a settled hold counts against a cap. */
export function getSettledAmount(
  { unit, amount }: { readonly unit: CapUnit; readonly amount: HoldCap['amount'] },
  charged: number,
  usage: Usage | undefined,
): number {
  switch (unit) {
    case 'credits':
      return charged;
    case 'tokens':
      return countTokens(usage) ?? amount;
    case 'requests':
      return amount;
    case 'concurrent':
      return 0;
  }
}
