import type { Usage } from '../ports/ledger.ts';
import { estimateInput, estimateTokens, type PromptSize } from './estimates.ts';
import { charge, type Prices } from './pricing.ts';

/**
 * How a call ends. `finished`: the model completed its output. `left`: the client disconnected or cancelled.
 * `broken`: the call failed for another reason.
 */
export type CallEnd = 'finished' | 'left' | 'broken';

/** Facts about a text model call at its end. */
export interface EndedCall {
  readonly prompt: PromptSize;
  /** Code points of all received output: text, reasoning, tool arguments. */
  readonly charactersSent: number;
  /** True if the model completed its output; false if the call was stopped or failed. */
  readonly finished: boolean;
  /** The last usage report of the provider. */
  readonly usage?: Usage | undefined;
  /** Context window of the model, in tokens. 0: unknown. */
  readonly contextWindow: number;
  /** Output limit of the call, in tokens. */
  readonly maxTokens: number;
}

/** Facts about a call whose client disconnected. */
export interface LeftCall extends Omit<EndedCall, 'finished'> {
  /** The report came after the last part of the answer. */
  readonly isReportFinal: boolean;
  /** Code points received before the last report. */
  readonly charactersReported: number;
  /** Maximum tokens that the model can have produced without sending them. */
  readonly unseen: number;
}

/** The charge of a call. */
export interface CallCost {
  readonly usage: Usage;
  /** Whole micro-credits. */
  readonly amount: number;
  /** The provider's report, if it was rejected or costs more than `amount`. */
  readonly rejected?: Usage;
}

export interface MeteredCall extends CallCost {
  /** False if the provider's report was missing or implausible, so `usage` is an estimate. */
  readonly reported: boolean;
}

/**
 * Providers add a few tokens of their own (system preambles, tool scaffolding) beyond the published context window.
 */
const windowMargin = 1.1;
/** Maximum characters per token. A report with fewer tokens than this implies does not cover the received text. */
const maxToken = 8;

/**
 * Computes the charge of a call at the prices of its acceptance: the reported usage if it is sane, else an estimate
 * of at most the reservation.
 * @param reserved the reservation of the call, in micro-credits.
 */
export function meterCall(prices: Prices, reserved: number, call: EndedCall): MeteredCall {
  const reported = reportedCharge(prices, call);
  if (reported !== undefined) return reported;
  const usage: Usage = { input: estimateInput(call.prompt), output: estimateTokens(call.charactersSent) };
  const cost = estimatedCharge(prices, reserved, usage, call.usage);
  // A rejected final report of a complete answer is always recorded.
  return call.finished && call.usage !== undefined ? { ...cost, rejected: call.usage } : cost;
}

/**
 * Computes the charge of a call whose client disconnected: the final report if it arrived; else the input plus the
 * larger of the received and the possible unseen output, at most the output limit and the reservation. An interim
 * report counts for the input and for the output that it covers.
 * @param reserved the reservation of the call, in micro-credits.
 */
export function meterLeftCall(prices: Prices, reserved: number, call: LeftCall): MeteredCall {
  if (call.isReportFinal) {
    const reported = reportedCharge(prices, { ...call, finished: true });
    if (reported !== undefined) return reported;
  }
  const {
    output = 0,
    reasoning = 0,
    ...read
  } = coveringReport(call) ?? {
    input: estimateInput(call.prompt),
  };
  const isCovered = output + reasoning > 0;
  const seen = output + estimateTokens(call.charactersSent - (isCovered ? call.charactersReported : 0));
  const made = Math.min(
    Math.max(seen + reasoning, call.unseen),
    Math.max(call.maxTokens, output + reasoning),
  );
  const hidden = Math.max(reasoning, made - seen);
  const usage: Usage = { ...read, output: made - hidden, ...(hidden > 0 && { reasoning: hidden }) };
  return estimatedCharge(prices, reserved, usage, call.usage);
}

/** Returns an interim report if it covers the output received by then. */
function coveringReport(call: LeftCall): Usage | undefined {
  const { usage } = call;
  if (!isObject(usage)) return undefined;
  const then = { ...call, charactersSent: call.charactersReported, finished: false };
  return isSaneUsage(usage, then) ? usage : undefined;
}

function estimatedCharge(
  prices: Prices,
  reserved: number,
  usage: Usage,
  report: Usage | undefined,
): MeteredCall {
  const amount = Math.min(charge(prices, usage), reserved);
  const isLess = report !== undefined && comesToMore(prices, report, amount);
  return { usage, amount, reported: false, ...(isLess && { rejected: report }) };
}

function comesToMore(prices: Prices, report: Usage, amount: number): boolean {
  try {
    return charge(prices, report) > amount;
  } catch {
    return true;
  }
}

function isObject(value: Usage | undefined): value is Usage {
  return typeof value === 'object' && value !== null;
}

/**
 * Computes the cost of the provider's report. @returns undefined if the report is implausible or its cost is not
 * countable.
 */
function reportedCharge(prices: Prices, call: EndedCall): MeteredCall | undefined {
  const { usage } = call;
  try {
    if (!isObject(usage) || !isSaneUsage(usage, call)) return undefined;
    return { usage, amount: charge(prices, usage), reported: true };
  } catch {
    return undefined;
  }
}

/**
 * Whether a provider's report is plausible. Rejected: a count that is negative, not an integer or above 2^53 - 1
 * (seconds may have decimals); more tokens than the context window; no input for a non-empty prompt; no output
 * although output was received; and, for a stopped call, less output than received, because providers report at the
 * start and again at the end.
 */
export function isSaneUsage(usage: Usage, call: Omit<EndedCall, 'usage'>): boolean {
  if (!COUNTS.every((name) => isCount(usage[name])) || !isDuration(usage.seconds)) return false;
  const { input = 0, output = 0, cachedInput = 0, cacheWrite = 0, reasoning = 0 } = usage;
  const read = input + cachedInput + cacheWrite;
  const made = output + reasoning;
  if (call.contextWindow > 0 && read + made > call.contextWindow * windowMargin + call.maxTokens)
    return false;
  if (read === 0 && estimateInput(call.prompt) > 0) return false;
  if (call.charactersSent === 0) return true;
  return call.finished ? made > 0 : made * maxToken >= call.charactersSent;
}

const COUNTS = [
  ...['input', 'output', 'cachedInput', 'cacheWrite', 'reasoning'],
  ...['images', 'characters', 'bytes'],
] as readonly Exclude<keyof Usage, 'seconds'>[];

function isCount(value: number | undefined): boolean {
  return value === undefined || (Number.isSafeInteger(value) && value >= 0);
}

/** Seconds may have decimals; they are counted in milliseconds. */
function isDuration(seconds: number | undefined): boolean {
  return seconds === undefined || (seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER / 1000);
}
