import type { Usage } from '../ports/ledger.ts';
import type { VideoResolution } from '../ports/media.ts';
import type { ModelInfo, ModelPrices, PriceTier } from '../ports/models.ts';
import { defaultCreditsPerUsd, microCreditsPerCredit } from './amounts.ts';

/**
 * Prices of a model in micro-credits: per million tokens for the five token classes, per unit for media. Frozen plain
 * JSON, so that a job can keep the prices from acceptance until settlement.
 */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cachedInput: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  readonly image: number;
  readonly second: number;
  /** Price per second of video, by resolution. Other resolutions cost `second`. */
  readonly secondByResolution?: Readonly<Partial<Record<VideoResolution, number>>>;
  readonly thousandCharacters: number;
  /** Per 2^20 bytes. */
  readonly megabyte: number;
  /** Prices of larger inputs, ascending. Absent: one price for all sizes. */
  readonly tiers?: readonly PricedTier[];
  /** Maximum input tokens, cached or not, with a known price. Absent: no limit. */
  readonly inputLimit?: number;
}

/** Token prices of calls whose total input, cached or not, exceeds `aboveInputTokens`. */
export interface PricedTier
  extends Pick<Prices, 'input' | 'output' | 'cachedInput' | 'cacheWrite' | 'reasoning'> {
  readonly aboveInputTokens: number;
}

/** Required prices by model type. Of an inner list, one is enough. */
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
 * Converts prices from US dollars to micro-credits, rounded to the nearest. Cache prices default to the input price,
 * the reasoning price to the output price.
 * @param tiers prices of larger inputs. A tier without a usable price sets `Prices.inputLimit`.
 * @returns undefined if a required price is missing or a price is not a number of 0 or more. Such a model is
 * unavailable while credits are enforced.
 */
export function priceModel(
  type: ModelInfo['type'],
  usd: ModelPrices | undefined,
  creditsPerUsd: number = defaultCreditsPerUsd,
  tiers: readonly PriceTier[] = [],
): Prices | undefined {
  const base = toMicroPrices(type, usd, creditsPerUsd);
  if (base === undefined) return undefined;
  const priced: PricedTier[] = [];
  let inputLimit: number | undefined;
  for (const { aboveInputTokens, prices } of [...tiers].sort(byThreshold)) {
    const micro = toMicroPrices(type, prices, creditsPerUsd);
    if (micro === undefined) {
      inputLimit = aboveInputTokens;
      break;
    }
    const { input, output, cachedInput, cacheWrite, reasoning } = micro;
    priced.push(Object.freeze({ aboveInputTokens, input, output, cachedInput, cacheWrite, reasoning }));
  }
  return Object.freeze({
    ...base,
    ...(priced.length > 0 && { tiers: Object.freeze(priced) }),
    ...(inputLimit !== undefined && { inputLimit }),
  });
}

function byThreshold(a: PriceTier, b: PriceTier): number {
  return a.aboveInputTokens - b.aboveInputTokens;
}

function toMicroPrices(
  type: ModelInfo['type'],
  usd: ModelPrices | undefined,
  creditsPerUsd: number,
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
  return {
    ...prices,
    ...(byResolution.length > 0 && { secondByResolution: Object.freeze(Object.fromEntries(byResolution)) }),
  };
}

/** Returns the prices of a video of this resolution, for `charge`. */
export function pricesAt(prices: Prices, resolution: VideoResolution): Prices {
  const { secondByResolution, ...others } = prices;
  return Object.freeze({ ...others, second: secondByResolution?.[resolution] ?? prices.second });
}

/**
 * Computes the charge of a usage in micro-credits, rounded up once. Exact for numbers of any size. Also computes the
 * reservation of unit-priced work: pass the maximum usage. The total input selects the price tier for all tokens.
 * @param usage must pass `isSaneUsage`. Seconds may have decimals; they are rounded to milliseconds.
 * @throws RangeError if the usage is invalid or the charge exceeds 2^53 - 1.
 */
export function charge(allPrices: Prices, usage: Usage): number {
  const prices = allPrices.tiers === undefined ? allPrices : pricesForInput(allPrices, usage);
  if (isMedia(usage)) return chargeMedia(prices, usage);
  const sum =
    (usage.input ?? 0) * prices.input +
    (usage.output ?? 0) * prices.output +
    (usage.cachedInput ?? 0) * prices.cachedInput +
    (usage.cacheWrite ?? 0) * prices.cacheWrite +
    (usage.reasoning ?? 0) * prices.reasoning;
  // All addends are 0 or more, so a sum below 2^53 proves that no intermediate step was rounded.
  return Number.isSafeInteger(sum)
    ? ceilDivide(sum, 1_000_000)
    : ceilDivideExactly(tokenSum(prices, usage), 1_000_000n);
}

function pricesForInput(prices: Prices, { input = 0, cachedInput = 0, cacheWrite = 0 }: Usage): Prices {
  const read = input + cachedInput + cacheWrite;
  const tier = prices.tiers?.findLast(({ aboveInputTokens }) => read > aboveInputTokens);
  return tier === undefined ? prices : { ...prices, ...tier };
}

/**
 * Computes `ceil(dividend / divisor)` of integers without intermediate rounding. The dividend is 0 or more and below
 * 2^53.
 */
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
