import type { CompletionEnd } from '@questline/core/internal';
import type { Usage } from '@questline/core/ports';

/** Token counts of the wire: the input excludes cached tokens, the output includes reasoning. */
export interface WireUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  readonly server_tool_use: null;
}

/** The usage of a message. That of a `message_delta` event lacks the last four fields. */
export interface MessageUsage extends WireUsage {
  readonly cache_creation: null;
  readonly inference_geo: null;
  readonly service_tier: 'standard';
  readonly speed: null;
}

export function toWireUsage({ cost }: Pick<CompletionEnd, 'cost'>): WireUsage {
  return countUsage(cost?.usage ?? {});
}

export function countUsage(usage: Usage): WireUsage {
  const { input = 0, output = 0, cachedInput = 0, cacheWrite = 0, reasoning = 0 } = usage;
  return {
    input_tokens: input,
    output_tokens: output + reasoning,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cachedInput,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
  };
}

export function toMessageUsage(usage: WireUsage): MessageUsage {
  return { ...usage, cache_creation: null, inference_geo: null, service_tier: 'standard', speed: null };
}
