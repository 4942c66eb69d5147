import type { Usage } from '../ports/ledger.ts';
import { charge, type Prices } from './pricing.ts';
import { isSaneUsage } from './usage.ts';

const UNKNOWN = {
  prompt: { characters: 0, images: 0 },
  charactersSent: 0,
  finished: true,
  contextWindow: 0,
  maxTokens: 0,
} as const;

/**
 * What a picture or a sound has cost: what was to be made, and beyond that what its provider counted, if that is sane.
 * Nobody pays for more seconds than were asked for, where it was said how many.
 * @param most what was to be made: the measure of the hold.
 * @param prices of the call as it was accepted. Absent: nothing is charged.
 */
export function meterMedia(
  prices: Prices | undefined,
  most: Usage,
  counted: Usage | undefined,
): { readonly usage: Usage; readonly amount: number } {
  const told = counted !== undefined && isTold(counted) ? { ...most, ...counted } : most;
  const { seconds = 0 } = told;
  const usage = most.seconds === undefined ? told : { ...told, seconds: Math.min(seconds, most.seconds) };
  if (prices === undefined) return { usage, amount: 0 };
  try {
    return { usage, amount: charge(prices, usage) };
  } catch (error) {
    // A report of more than can be counted is none.
    if (told === most) throw error;
    return { usage: most, amount: charge(prices, most) };
  }
}

/** Something was made: a count of nothing is none. */
function isTold(counted: Usage): boolean {
  return isSaneUsage(counted, UNKNOWN) && Object.values(counted).some((count) => count > 0);
}
