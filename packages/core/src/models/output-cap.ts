import type { GenerateRequest, ModelInfo, ReasoningEffort } from '../ports/models.ts';
import { isApiError, isCreditCode } from '../shared/errors.ts';

/*
 * Output limits for requests without `max_tokens`. Reasoning counts towards the same limit, so a limit that suits an
 * answer is too small for a reasoning model. @see docs/decisions/output-caps.md
 */

/** Default output limit of a model without reasoning, in tokens. */
const DEFAULT_ANSWER_TOKENS = 4096;
/** Default output limit of a reasoning model, in tokens: the vendors' minimum for hard tasks. */
const DEFAULT_REASONING_CAP = 32_768;
/** Extra tokens for reasoning about a small task, such as a title. */
const TASK_REASONING_TOKENS = 8192;
/** Maximum part of the context window; the rest is for the input. */
const DEFAULT_WINDOW_SHARE = 0.25;

/** Message for clients. */
export const CAP_SPENT =
  'The model used its whole output limit for hidden reasoning, before it answered. Allow more tokens, or ask for ' +
  'less reasoning.';

type Caps = Pick<
  ModelInfo,
  'contextWindow' | 'maxOutputTokens' | 'defaultMaxTokens' | 'supportsThinking' | 'reasoningEfforts'
>;

/**
 * Returns the default output limit, in tokens. @param effort `none` needs no room for reasoning, if the model lists
 * it: the call holds less credit.
 */
export function defaultOutputCap(info: Caps, effort?: ReasoningEffort): number {
  const { contextWindow, defaultMaxTokens, supportsThinking, reasoningEfforts } = info;
  if (defaultMaxTokens !== undefined) return withinModel(info, defaultMaxTokens);
  const isQuiet = effort === 'none' && reasoningEfforts?.includes('none') === true;
  const usual = supportsThinking === true && !isQuiet ? DEFAULT_REASONING_CAP : DEFAULT_ANSWER_TOKENS;
  const share = contextWindow > 0 ? Math.floor(contextWindow * DEFAULT_WINDOW_SHARE) : usual;
  return withinModel(info, Math.min(usual, Math.max(share, DEFAULT_ANSWER_TOKENS)));
}

/** Returns the default output limit of a call with a reasoning budget: enough for both. */
export function capWithBudget(info: Caps, budget: number, effort?: ReasoningEffort): number {
  return withinModel(info, Math.max(defaultOutputCap(info, effort), budget + DEFAULT_ANSWER_TOKENS));
}

/** Returns the output limit of a small task with an answer of at most `answerTokens`. */
export function taskOutputCap(info: Caps, answerTokens: number): number {
  return withinModel(info, answerTokens + (info.supportsThinking === true ? TASK_REASONING_TOKENS : 0));
}

/**
 * Halves a default output limit that the credit does not cover. @returns undefined if an ordinary answer would not
 * fit, or the request sets a reasoning budget.
 */
function withLowerCap(request: GenerateRequest): GenerateRequest | undefined {
  const { maxTokens, thinking } = request;
  if (maxTokens <= DEFAULT_ANSWER_TOKENS || thinking !== undefined) return undefined;
  return { ...request, maxTokens: Math.max(DEFAULT_ANSWER_TOKENS, Math.floor(maxTokens / 2)) };
}

/**
 * Holds the cost of a call, and lowers a default output limit if the credit does not cover it. Each attempt is a
 * separate hold. @throws ApiError that `pay` throws for the lowest limit.
 */
export function payWithin<M>(
  request: GenerateRequest,
  isCapNamed: boolean,
  pay: (request: GenerateRequest) => Promise<M>,
): Promise<{ readonly money: M; readonly request: GenerateRequest }> {
  return pay(request).then(
    (money) => ({ money, request }),
    (error: unknown) => {
      const lower = isCapNamed || !isOutOfCredit(error) ? undefined : withLowerCap(request);
      if (lower === undefined) throw error;
      return payWithin(lower, isCapNamed, pay);
    },
  );
}

function isOutOfCredit(error: unknown): boolean {
  return isApiError(error) && isCreditCode(error.code);
}

/** Clamps a requested limit to an integer from 1 to the model's maximum. */
export function withinModel({ maxOutputTokens }: Pick<ModelInfo, 'maxOutputTokens'>, tokens: number): number {
  const most = maxOutputTokens > 0 ? maxOutputTokens : Number.POSITIVE_INFINITY;
  return Math.max(1, Math.min(Math.floor(tokens), most));
}

/** Maximum input tokens, after the output cap is reserved. Never less than a quarter of the context window. */
export function getInputLimit(
  { contextWindow }: Pick<ModelInfo, 'contextWindow'>,
  maxTokens: number,
): number {
  if (contextWindow <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(contextWindow - maxTokens, Math.floor(contextWindow / 4));
}

/** Low reasoning effort for a small task, if the model supports it. */
export function taskEffort({ reasoningEfforts }: Pick<ModelInfo, 'reasoningEfforts'>): {
  readonly reasoningEffort?: ReasoningEffort;
} {
  return reasoningEfforts?.includes('low') === true ? { reasoningEffort: 'low' } : {};
}
