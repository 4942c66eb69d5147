import type { Usage } from '../ports/ledger.ts';
import { estimateInput, estimateTokens, type PromptSize } from './estimates.ts';
import { charge, type Prices } from './pricing.ts';

/** What is known about a text model's call when it ends. */
export interface EndedCall {
  readonly prompt: PromptSize;
  /** Code points of everything the model was seen to produce: text, reasoning, arguments of tool calls. */
  readonly charactersSent: number;
  /** True when the model came to its own end; false when the call was stopped or broke off. */
  readonly finished: boolean;
  /** The provider's last report, if there was one. */
  readonly usage?: Usage | undefined;
  /** Tokens, of the model. 0: unknown. */
  readonly contextWindow: number;
  /** The output cap of the call. */
  readonly maxTokens: number;
}

export interface MeteredCall {
  readonly usage: Usage;
  /** Whole micro-credits. */
  readonly amount: number;
  /** False when the provider's report was missing or absurd, and the usage is our own estimate. */
  readonly reported: boolean;
}

/** Providers count a few tokens of their own (system preambles, tool scaffolding) beyond the window they publish. */
const windowMargin = 1.1;
/** Hardly any token is longer. A report of fewer tokens than this allows was made before the text that we saw. */
const longestToken = 8;

/**
 * What a call has cost, at the prices it was accepted under: the reported usage if it is sane, else the estimate, which is
 * never more than the reservation.
 * @param reserved the call's reservation, whole micro-credits.
 */
export function meterCall(prices: Prices, reserved: number, call: EndedCall): MeteredCall {
  const reported = reportedCharge(prices, call);
  if (reported !== undefined) return reported;
  const usage: Usage = { input: estimateInput(call.prompt), output: estimateTokens(call.charactersSent) };
  return { usage, amount: Math.min(charge(prices, usage), reserved), reported: false };
}

/** What the provider's report comes to, if it is one to believe: one that nobody could count or pay is not. */
function reportedCharge(prices: Prices, call: EndedCall): MeteredCall | undefined {
  const { usage } = call;
  try {
    if (usage === undefined || !isSaneUsage(usage, call)) return undefined;
    return { usage, amount: charge(prices, usage), reported: true };
  } catch {
    return undefined;
  }
}

/**
 * Whether a provider's report can be believed. Absurd is: a count that is negative, no whole number or beyond 2^53 - 1
 * (seconds may have decimals); more tokens than the model can hold; no input although there was a prompt; no output
 * although some was seen; and, of a call that was stopped, less output than was seen, because providers report as they
 * start and again when they finish.
 */
export function isSaneUsage(usage: Usage, call: Omit<EndedCall, 'usage'>): boolean {
  const { input = 0, output = 0, cachedInput = 0, cacheWrite = 0, reasoning = 0 } = usage;
  const { images = 0, seconds = 0, characters = 0, bytes = 0 } = usage;
  for (const count of [input, output, cachedInput, cacheWrite, reasoning, images, characters, bytes]) {
    if (!Number.isSafeInteger(count) || count < 0) return false;
  }
  if (!(seconds >= 0 && seconds <= Number.MAX_SAFE_INTEGER / 1000)) return false;
  const read = input + cachedInput + cacheWrite;
  const made = output + reasoning;
  if (call.contextWindow > 0 && read + made > call.contextWindow * windowMargin + call.maxTokens)
    return false;
  if (read === 0 && estimateInput(call.prompt) > 0) return false;
  if (call.charactersSent === 0) return true;
  return call.finished ? made > 0 : made * longestToken >= call.charactersSent;
}
