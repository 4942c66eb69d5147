import { estimateInput, type PromptSize, promptSize, reservation } from '../credits/estimates.ts';
import type { Prices } from '../credits/pricing.ts';
import type { GenerateRequest, ModelInfo } from '../ports/models.ts';
import { ApiError } from '../shared/errors.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { unpriced } from './unpriced.ts';

/**
 * Default output tokens per second. The published medians of the fastest models of large vendors are between 190 and
 * 230.
 */
const DEFAULT_OUTPUT_TOKENS_PER_SECOND = 200;

/** The inputs for the charge of a text model call, fixed before the call. Plain JSON. */
export interface TextCallBasis {
  /** Absent: the model has no prices and credits are not enforced. */
  readonly prices?: Prices;
  readonly prompt: PromptSize;
  readonly contextWindow: number;
  readonly maxTokens: number;
  /** Maximum unseen output tokens per second. Absent: no unseen output. */
  readonly unseenPerSecond?: number;
}

/**
 * @throws ApiError 422 `model_unavailable` for a model without a price while credits are metered;
 * `context_length_exceeded` if the estimated input exceeds the context window or the range of known prices.
 */
export function getTextCallBasis(
  entry: CatalogueEntry,
  request: GenerateRequest,
  isMetered: boolean,
): TextCallBasis {
  const { info, prices } = entry;
  if (isMetered && prices === undefined) throw unpriced(entry);
  const prompt = promptSize(request);
  const input = estimateInput(prompt);
  if (info.contextWindow > 0 && input > info.contextWindow) throw tooLong(info, input, info.contextWindow);
  if (isMetered && prices?.inputLimit !== undefined && input > prices.inputLimit) {
    throw tooLong(info, input, prices.inputLimit);
  }
  return {
    ...(prices !== undefined && { prices }),
    prompt,
    contextWindow: info.contextWindow,
    maxTokens: request.maxTokens,
    ...(canReasonUnseen(info, request) && {
      unseenPerSecond: info.outputTokensPerSecond ?? DEFAULT_OUTPUT_TOKENS_PER_SECOND,
    }),
  };
}

/** The amount to hold, in micro-credits. */
export function getReservation({ prices, prompt, maxTokens }: TextCallBasis): number {
  return prices === undefined ? 0 : reservation(prices, { ...prompt, maxTokens });
}

/** The tokens to reserve of a budget: estimated input and maximum output. */
export function getMaxTokens({ prompt, maxTokens }: TextCallBasis): number {
  return estimateInput(prompt) + maxTokens;
}

/**
 * Most vendors hide or summarize reasoning, and some enable it by default. Effort `none` counts only if the model
 * lists it; otherwise the provider maps it to its lowest level and the model still reasons.
 */
function canReasonUnseen(info: ModelInfo, { reasoningEffort }: GenerateRequest): boolean {
  if (reasoningEffort === 'none' && info.reasoningEfforts?.includes('none') === true) return false;
  return info.supportsThinking === true || (info.reasoningEfforts ?? []).some((effort) => effort !== 'none');
}

function tooLong({ id }: ModelInfo, input: number, limit: number): ApiError {
  return new ApiError(
    422,
    `The conversation is longer than the model can read: about ${input} tokens, '${id}' takes at most ${limit}.`,
    { code: 'context_length_exceeded' },
  );
}
