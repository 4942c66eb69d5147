import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from '@ai-sdk/provider';
import type { GenerateRequest } from '@questline/core/ports';

/* Anthropic's package takes prompt cache breakpoints as options of messages and tools; other vendors cache automatically. */

type Options = NonNullable<LanguageModelV4Message['providerOptions']>;

/** The API allows four breakpoints: one is for the tools, one for the system prompt. */
const MAX_MESSAGE_BREAKPOINTS = 2;

/** Vendors whose models take breakpoints, including those behind other clouds. */
export function takesBreakpoints(vendor: string): boolean {
  return vendor.includes('anthropic');
}

export function breakpoint({ promptCache }: GenerateRequest): Options {
  const ttl = promptCache?.ttl === '1h' ? { ttl: '1h' } : {};
  return { anthropic: { cacheControl: { type: 'ephemeral', ...ttl } } };
}

/** Marks the last tool. */
export function markTools(
  tools: readonly LanguageModelV4FunctionTool[],
  options: Options,
): LanguageModelV4FunctionTool[] {
  return tools.map((tool, place) =>
    place === tools.length - 1 ? { ...tool, providerOptions: options } : tool,
  );
}

/**
 * Indices of the messages that end a cacheable prefix: those that the caller marked, otherwise the last message of a
 * conversation that continues.
 */
export function getBreakpoints(request: GenerateRequest): ReadonlySet<number> {
  const { messages, promptCache, tools = [], toolChoice } = request;
  if (promptCache?.mode === 'off') return new Set();
  const system = messages.findLastIndex(({ role }) => role === 'system');
  const marked = messages.flatMap(({ cacheBreakpoint, role }, place) =>
    cacheBreakpoint === true && role !== 'system' ? [place] : [],
  );
  const isLastRound = tools.length > 0 && toolChoice === 'none';
  const goesOn = tools.length > 0 || messages.some(({ role }) => role === 'assistant');
  const own = goesOn && !isLastRound ? [messages.length - 1] : [];
  return new Set([system, ...(marked.length > 0 ? marked.slice(-MAX_MESSAGE_BREAKPOINTS) : own)]);
}
