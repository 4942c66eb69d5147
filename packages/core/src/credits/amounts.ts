/*
 * Internal amounts are integers in micro-credits; credits and dollars exist only on the wire and in settings. A
 * credit has at most 6 decimals, so the conversion is lossless in both directions.
 */

export const microCreditsPerCredit = 1_000_000;

/** Default number of credits per US dollar. */
export const defaultCreditsPerUsd = 100;

/** Converts micro-credits to credits, with at most 6 decimals. */
export function toCredits(microCredits: number): number {
  return microCredits / microCreditsPerCredit;
}

/** Converts micro-credits to US dollars; at 100 credits per dollar with at most 8 decimals. */
export function toUsd(microCredits: number, creditsPerUsd: number = defaultCreditsPerUsd): number {
  return microCredits / (microCreditsPerCredit * creditsPerUsd);
}

/**
 * Converts credits to micro-credits, rounded to the nearest. @throws RangeError if the amount is not a number or
 * exceeds the safe integers.
 */
export function fromCredits(credits: number): number {
  const microCredits = Math.round(credits * microCreditsPerCredit);
  if (!Number.isSafeInteger(microCredits)) {
    throw new RangeError(`An amount of ${credits} credits cannot be counted exactly`);
  }
  return microCredits;
}
