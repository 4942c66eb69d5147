import type { Usage } from '../ports/ledger.ts';
import type { VideoResolution } from '../ports/media.ts';
import type { ModelInfo, ModelPrices } from '../ports/models.ts';
import { defaultCreditsPerUsd, microCreditsPerCredit } from './amounts.ts';

/**
 * What a model costs, in whole micro-credits: per million tokens for the five token classes, per unit for media. Frozen,
 * and plain JSON, so that a job can carry the prices it was accepted under to its settlement.
 */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  readonly image: number;
  readonly second: number;
  /** A second of film where it costs something else than `second`. */
  readonly secondByResolution?: Readonly<Partial<Record<VideoResolution, number>>>;
  readonly thousandCharacters: number;
  /** Per 2^20 bytes. */
  readonly megabyte: number;
}

/** Which prices a model of a type cannot be sold without. An inner list: any one of them suffices. */
const required: Readonly<Record<ModelInfo['type'], readonly (readonly (keyof ModelPrices)[])[]>> = {
  text: [['input'], ['output']],
  embedding: [['input']],
  image: [['image', 'output', 'megabyte']],
  'speech-to-text': [['megabyte']],
  'text-to-speech': [['thousandCharacters', 'input', 'output', 'second', 'megabyte']],
  'sound-effect': [['thousandCharacters', 'second', 'output', 'megabyte']],
  video: [['second', 'megabyte']],
  music: [['second', 'output', 'thousandCharacters', 'megabyte']],
};

/**
 * Turns prices in US dollars into whole micro-credits, rounded to the nearest. Missing cache prices are the input price,
 * a missing reasoning price is the output price.
 * @returns undefined when the model has no usable price: none at all, one that its type needs is missing, or one is not
 *   a number of 0 or more. Such a model must not be used while metering is on.
 */
export function priceModel(
  type: ModelInfo['type'],
  usd: ModelPrices | undefined,
  creditsPerUsd: number = defaultCreditsPerUsd,
): Prices | undefined {
  if (usd === undefined) return undefined;
  if (!required[type].every((any) => any.some((name) => usd[name] !== undefined))) return undefined;
  const micro = (price: number | undefined): number =>
    price === undefined ? 0 : Math.round(price * (creditsPerUsd * microCreditsPerCredit));
  const prices = {
    input: micro(usd.input),
    output: micro(usd.output),
    cachedInput: micro(usd.cachedInput ?? usd.input),
    cacheWrite: micro(usd.cacheWrite ?? usd.input),
    reasoning: micro(usd.reasoning ?? usd.output),
    image: micro(usd.image),
    second: micro(usd.second),
    thousandCharacters: micro(usd.thousandCharacters),
    megabyte: micro(usd.megabyte),
  };
  const secondByResolution =
    usd.secondByResolution === undefined ? [] : Object.entries(usd.secondByResolution);
  const byResolution = secondByResolution.map(([resolution, price]) => [resolution, micro(price)] as const);
  const all = [...Object.values(prices), ...byResolution.map(([, price]) => price)];
  if (!all.every((price) => Number.isSafeInteger(price) && price >= 0)) return undefined;
  return Object.freeze({
    ...prices,
    ...(byResolution.length > 0 && { secondByResolution: Object.freeze(Object.fromEntries(byResolution)) }),
  });
}

/** The prices of a film of this resolution, for `charge`. */
export function pricesAt(prices: Prices, resolution: VideoResolution): Prices {
  const { secondByResolution, ...others } = prices;
  return Object.freeze({ ...others, second: secondByResolution?.[resolution] ?? prices.second });
}

/**
 * What a usage costs, in whole micro-credits, rounded up once. Exact, however large the numbers are. Also the
 * reservation of work that is paid by the unit: ask it for the most that may be used.
 * @param usage sane: see `isSaneUsage`. Seconds may have decimals and count in milliseconds, to the nearest.
 * @throws RangeError when the usage is not countable, or the charge is beyond 2^53 - 1.
 */
export function charge(prices: Prices, usage: Usage): number {
  if (isMedia(usage)) return chargeMedia(prices, usage);
  const sum =
    (usage.input ?? 0) * prices.input +
    (usage.output ?? 0) * prices.output +
    (usage.cachedInput ?? 0) * prices.cachedInput +
    (usage.cacheWrite ?? 0) * prices.cacheWrite +
    (usage.reasoning ?? 0) * prices.reasoning;
  // All addends are 0 or more, so a sum below 2^53 means that no step on the way to it was rounded.
  return Number.isSafeInteger(sum)
    ? ceilDivide(sum, 1_000_000)
    : ceilDivideExactly(tokenSum(prices, usage), 1_000_000n);
}

/** `ceil(dividend / divisor)` of whole numbers, the dividend 0 or more and below 2^53, without a rounding in between. */
function ceilDivide(dividend: number, divisor: number): number {
  const rest = dividend % divisor;
  return (dividend - rest) / divisor + (rest > 0 ? 1 : 0);
}

function isMedia(usage: Usage): boolean {
  return (
    usage.images !== undefined ||
    usage.seconds !== undefined ||
    usage.characters !== undefined ||
    usage.bytes !== undefined
  );
}

/** Token usage times prices: millionths of a micro-credit. */
function tokenSum(prices: Prices, usage: Usage): bigint {
  return (
    BigInt(usage.input ?? 0) * BigInt(prices.input) +
    BigInt(usage.output ?? 0) * BigInt(prices.output) +
    BigInt(usage.cachedInput ?? 0) * BigInt(prices.cachedInput) +
    BigInt(usage.cacheWrite ?? 0) * BigInt(prices.cacheWrite) +
    BigInt(usage.reasoning ?? 0) * BigInt(prices.reasoning)
  );
}

/**
 * Tokens divide by 10^6, seconds and characters by 10^3, bytes by 2^20. 2^20 * 5^6 is the least common multiple: over it,
 * all of them add up exactly and one division is enough.
 */
const commonDivisor = 2n ** 20n * 5n ** 6n;

function chargeMedia(prices: Prices, usage: Usage): number {
  const milliseconds = Math.round((usage.seconds ?? 0) * 1000);
  const sum =
    tokenSum(prices, usage) * (commonDivisor / 1_000_000n) +
    BigInt(usage.images ?? 0) * BigInt(prices.image) * commonDivisor +
    BigInt(milliseconds) * BigInt(prices.second) * (commonDivisor / 1000n) +
    BigInt(usage.characters ?? 0) * BigInt(prices.thousandCharacters) * (commonDivisor / 1000n) +
    BigInt(usage.bytes ?? 0) * BigInt(prices.megabyte) * (commonDivisor / 2n ** 20n);
  return ceilDivideExactly(sum, commonDivisor);
}

function ceilDivideExactly(dividend: bigint, divisor: bigint): number {
  const quotient = Number((dividend + divisor - 1n) / divisor);
  if (!Number.isSafeInteger(quotient)) throw new RangeError('The charge is too large to be counted exactly');
  return quotient;
}
