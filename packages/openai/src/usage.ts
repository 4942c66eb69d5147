import type { CompletionEnd } from '@questline/core/internal';

/** Token counts of the wire: cached tokens are part of the prompt, reasoning is part of the completion. */
export interface WireUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: {
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
    readonly audio_tokens: number;
  };
  readonly completion_tokens_details: {
    readonly reasoning_tokens: number;
    readonly audio_tokens: number;
    readonly accepted_prediction_tokens: number;
    readonly rejected_prediction_tokens: number;
  };
}

export function toWireUsage({ cost }: Pick<CompletionEnd, 'cost'>): WireUsage {
  const { input = 0, output = 0, cachedInput = 0, cacheWrite = 0, reasoning = 0 } = cost?.usage ?? {};
  const prompt = input + cachedInput + cacheWrite;
  const completion = output + reasoning;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: cachedInput,
      cache_write_tokens: cacheWrite,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** Token counts of the Responses API. */
export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

export function toResponseUsage(end: Pick<CompletionEnd, 'cost'>): ResponseUsage {
  const { prompt_tokens, prompt_tokens_details, completion_tokens, completion_tokens_details, total_tokens } =
    toWireUsage(end);
  const { cached_tokens, cache_write_tokens } = prompt_tokens_details;
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens, cache_write_tokens },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: completion_tokens_details.reasoning_tokens },
    total_tokens,
  };
}
