import type { Usage } from '../ports/ledger.ts';
import { charge, type Prices } from './pricing.ts';
import { type CallCost, isSaneUsage } from './usage.ts';

const UNKNOWN = {
  prompt: { characters: 0, images: 0 },
  charactersSent: 0,
  finished: true,
  contextWindow: 0,
  maxTokens: 0,
} as const;

/**
 * Computes the charge of an image or audio call, from the requested units and the provider's usage report, if it is
 * sane. If the request states a duration, no more seconds are charged.
 * @param most the requested units, as used for the hold.
 * @param prices the prices at acceptance. Absent: no charge.
 */
export function meterMedia(
  prices: Prices | undefined,
  most: Usage,
  counted: Usage | undefined,
): { readonly usage: Usage; readonly amount: number } {
  const reported = counted !== undefined && isReported(counted) ? { ...most, ...counted } : most;
  const { seconds = 0 } = reported;
  const usage =
    most.seconds === undefined ? reported : { ...reported, seconds: Math.min(seconds, most.seconds) };
  if (prices === undefined) return { usage, amount: 0 };
  try {
    return { usage, amount: charge(prices, usage) };
  } catch {
    // Ignores a report that exceeds the safe integers.
    return { usage: most, amount: charge(prices, most) };
  }
}

/** Lower bound of speech codecs. Bounds the plausible seconds of a report. */
const MIN_BITS_PER_SECOND = 500;

/**
 * Computes the charge of a transcription: reported seconds or tokens if the model has a price for them, else by the
 * size of the recording.
 * @param prices the prices at acceptance. Absent: no charge.
 * @param bytes the size of the recording, as used for the hold.
 */
export function meterRecording(
  prices: Prices | undefined,
  bytes: number,
  counted: Usage | undefined,
): CallCost {
  const bySize: Usage = { bytes };
  if (prices === undefined) return { usage: bySize, amount: 0 };
  const amount = charge(prices, bySize);
  const reported = counted === undefined ? undefined : pricedReport(prices, counted);
  if (reported === undefined) return { usage: bySize, amount };
  const { seconds = 0 } = reported;
  const isSane = isSaneUsage(reported, UNKNOWN) && seconds * MIN_BITS_PER_SECOND <= bytes * 8;
  if (!isSane) return { usage: bySize, amount, rejected: reported };
  return { usage: reported, amount: charge(prices, reported) };
}

/** Keeps the reported units that the model has a price for. */
function pricedReport(prices: Prices, { seconds = 0, input = 0, output = 0 }: Usage): Usage | undefined {
  if (seconds !== 0 && prices.second > 0) return { seconds };
  if (input + output !== 0 && prices.input + prices.output > 0) return { input, output };
  return undefined;
}

/** A result exists, so a report without units is ignored. */
function isReported(counted: Usage): boolean {
  return isSaneUsage(counted, UNKNOWN) && Object.values(counted).some((count) => count > 0);
}
