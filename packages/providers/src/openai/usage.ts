import type { Usage } from '@questline/core/ports';
import { toCount } from '../content/counts.ts';

/** Token counts of the chat completions protocol. All fields are optional: compatible servers differ. */
export interface CompletionUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly total_tokens?: number | null;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
  /** DeepSeek. */
  readonly prompt_cache_hit_tokens?: number | null;
  /** Moonshot. */
  readonly cached_tokens?: number | null;
}

/**
 * OpenAI: the prompt includes cached tokens, the completion includes the reasoning. If the total shows that the
 * completion excludes the reasoning, as at xAI, it is not subtracted.
 */
export function splitCompletionUsage(usage: CompletionUsage): Usage {
  const prompt = toCount(usage.prompt_tokens);
  const completion = toCount(usage.completion_tokens);
  const cachedInput = toCount(
    usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens,
  );
  const cacheWrite = toCount(usage.prompt_tokens_details?.cache_write_tokens);
  const reasoning = toCount(usage.completion_tokens_details?.reasoning_tokens);
  const isSeparate = usage.total_tokens === prompt + completion + reasoning;
  return {
    input: Math.max(0, prompt - cachedInput - cacheWrite),
    output: isSeparate ? completion : Math.max(0, completion - reasoning),
    cachedInput,
    cacheWrite,
    reasoning,
  };
}
