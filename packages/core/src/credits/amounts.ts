/*
 * Inside, every sum of money is a whole number of micro-credits; credits and dollars exist only on the wire and in
 * settings. A credit has at most 6 decimals, so the way out and back loses nothing.
 */

export const microCreditsPerCredit = 1_000_000;

/** Credits per US dollar, unless the host says otherwise. */
export const defaultCreditsPerUsd = 100;

/** Credits for the wire, with at most 6 decimals. */
export function toCredits(microCredits: number): number {
  return microCredits / microCreditsPerCredit;
}

/** US dollars for the wire, e.g. with at most 8 decimals at 100 credits per dollar. */
export function toUsd(microCredits: number, creditsPerUsd: number = defaultCreditsPerUsd): number {
  return microCredits / (microCreditsPerCredit * creditsPerUsd);
}

/**
 * Whole micro-credits of an amount in credits, rounded to the nearest.
 * @throws RangeError when the amount is no number, or too large to be counted exactly.
 */
export function fromCredits(credits: number): number {
  const microCredits = Math.round(credits * microCreditsPerCredit);
  if (!Number.isSafeInteger(microCredits)) {
    throw new RangeError(`An amount of ${credits} credits cannot be counted exactly`);
  }
  return microCredits;
}
