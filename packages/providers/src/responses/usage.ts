import type { Usage } from '@questline/core/ports';
import { toCount } from '../content/counts.ts';

/** Token counts of the Responses API. All fields are optional: servers differ. */
export interface ResponseUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly total_tokens?: number | null;
  readonly input_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly output_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}

/** The input includes the cache and the output includes the reasoning, unless the total shows otherwise. */
export function splitResponseUsage(usage: ResponseUsage): Usage {
  const input = toCount(usage.input_tokens);
  const output = toCount(usage.output_tokens);
  const cachedInput = toCount(usage.input_tokens_details?.cached_tokens);
  const cacheWrite = toCount(usage.input_tokens_details?.cache_write_tokens);
  const reasoning = toCount(usage.output_tokens_details?.reasoning_tokens);
  const isSeparate = usage.total_tokens === input + output + reasoning;
  return {
    input: Math.max(0, input - cachedInput - cacheWrite),
    output: isSeparate ? output : Math.max(0, output - reasoning),
    cachedInput,
    cacheWrite,
    reasoning,
  };
}
