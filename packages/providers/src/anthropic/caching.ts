import type { PromptCacheHints } from '@questline/core/ports';

type Json = Record<string, unknown>;

/** The API's maximum per request. */
const MAX_BREAKPOINTS = 4;
/** Characters per token, estimated low: a breakpoint on a prefix that is too short costs nothing, a missing one does. */
const CHARACTERS_PER_TOKEN = 2.5;
const TOKENS_PER_IMAGE = 1000;
/** Base64 characters of a PDF that are read like an image. */
const CHARACTERS_PER_PAGE = 44_000;

/** A message in the API's format, with the indexes of the blocks that the caller marked. */
export interface CacheableMessage {
  readonly role: string;
  readonly content: Json[];
  readonly marked: readonly Json[];
}

export interface CacheablePrompt {
  readonly tools: Json[];
  readonly system: Json[];
  readonly messages: readonly CacheableMessage[];
}

/**
 * Sets cache breakpoints: after the tools, after the system text, and at the caller's marks. Without marks, after the last
 * message of a continued conversation, and after the message of the previous request; a single
 * question is not written to the cache, because no later request reads it.
 * @param rounds `more`: tools are offered, so that more rounds may follow; `last`: they must not be used. Another choice of
 * tools makes the messages another prefix: those of a last round are neither read nor worth writing.
 * @param minTokens shorter prefixes are not cached by the model.
 * @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export function markBreakpoints(
  prompt: CacheablePrompt,
  hints: PromptCacheHints | undefined,
  rounds: 'one' | 'more' | 'last',
  minTokens: number,
): void {
  if (hints?.mode === 'off') return;
  const { tools, system, messages } = prompt;
  const prefix = [...tools, ...system];
  const heads = [tools.at(-1), system.at(-1)].filter((block) => block !== undefined);
  const chosen = new Set<Json>([...heads, ...chooseMarks(messages, rounds, MAX_BREAKPOINTS - heads.length)]);
  const control = { type: 'ephemeral', ...(hints?.ttl === '1h' && { ttl: '1h' }) };
  let tokens = 0;
  for (const block of [...prefix, ...messages.flatMap(({ content }) => content)]) {
    tokens += getSize(block);
    if (chosen.has(block) && tokens >= minTokens) block.cache_control = control;
  }
}

function chooseMarks(
  messages: readonly CacheableMessage[],
  rounds: 'one' | 'more' | 'last',
  most: number,
): readonly Json[] {
  if (rounds === 'last') return [];
  const marked = messages.flatMap((message) => message.marked);
  if (marked.length > 0) return marked.slice(-most);
  if (rounds === 'one' && !messages.some(({ role }) => role === 'assistant')) return [];
  return messages
    .filter(({ role }) => role === 'user')
    .slice(-most)
    .map(({ content }) => lastCacheable(content))
    .filter((block) => block !== undefined);
}

/** Thinking blocks cannot have a breakpoint. */
export function lastCacheable(blocks: readonly Json[]): Json | undefined {
  return blocks.findLast(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
}

function getSize(block: Json): number {
  switch (block.type) {
    case 'image':
      return TOKENS_PER_IMAGE;
    case 'document': {
      const { media_type, data } = block.source as { media_type: string; data: string };
      return media_type === 'text/plain'
        ? data.length / CHARACTERS_PER_TOKEN
        : Math.ceil(data.length / CHARACTERS_PER_PAGE) * TOKENS_PER_IMAGE;
    }
    case 'text':
      return String(block.text).length / CHARACTERS_PER_TOKEN;
    default:
      return JSON.stringify(block).length / CHARACTERS_PER_TOKEN;
  }
}
