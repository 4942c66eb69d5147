import { createHash } from 'node:crypto';
import type { Usage } from '@questline/core/ports';

type Json = Readonly<Record<string, unknown>>;

export interface PromptCacheOptions {
  /** Epoch milliseconds. Default: time stands still. */
  readonly now?: () => number;
  /** Tokens: shorter prefixes are not cached. Default 1024. */
  readonly minTokens?: number;
  /** TTL of an entry since its last read, in milliseconds. Default 5 minutes. */
  readonly ttlMs?: number;
}

/** The prompt cache behind a scripted messages API of Anthropic. */
export interface PromptCache {
  /** Returns what a request reads and writes, in tokens of four characters, and updates the cache. */
  count(body: unknown): Required<Pick<Usage, 'input' | 'cachedInput' | 'cacheWrite'>>;
}

/** Number of blocks before a breakpoint that are searched for an earlier entry. */
const LOOKBACK = 20;
const CHARACTERS_PER_TOKEN = 4;

/**
 * Keeps the documented rules: a prefix is tools, then system, then messages, byte by byte; entries are written at
 * breakpoints only and found at most 20 blocks before one; another choice of tools or another kind of thinking makes the
 * messages another prefix; what is shorter than the minimum is neither written nor read.
 * @see https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export function createPromptCache(options: PromptCacheOptions = {}): PromptCache {
  const { now = () => 0, minTokens = 1024, ttlMs = 5 * 60_000 } = options;
  /** Expiry times by prefix. */
  const entries = new Map<string, number>();

  return {
    count(body) {
      const blocks = prefixes(body as Json);
      const marked = blocks.flatMap(({ isMarked }, place) => (isMarked ? [place] : []));
      const isHit = (place: number): boolean =>
        (entries.get(blocks[place]?.key ?? '') ?? Number.NEGATIVE_INFINITY) > now();
      const hits = marked.flatMap((place) => {
        for (let at = place; at >= 0 && at > place - LOOKBACK; at -= 1) if (isHit(at)) return [at];
        return [];
      });
      const hit = Math.max(-1, ...hits);
      const cachedInput = blocks[hit]?.tokens ?? 0;
      const written = marked.filter((place) => (blocks[place]?.tokens ?? 0) >= minTokens);
      for (const place of [hit, ...written]) {
        const key = blocks[place]?.key;
        if (key !== undefined) entries.set(key, now() + ttlMs);
      }
      const cacheWrite = Math.max(0, (blocks[written.at(-1) ?? -1]?.tokens ?? 0) - cachedInput);
      const all = blocks.at(-1)?.tokens ?? 0;
      return { input: all - cachedInput - cacheWrite, cachedInput, cacheWrite };
    },
  };
}

interface Prefix {
  /** A hash of the prefix up to here. */
  readonly key: string;
  /** The tokens of the prefix up to here. */
  readonly tokens: number;
  readonly isMarked: boolean;
}

function prefixes({ model, tools, system, messages, tool_choice, thinking }: Json): readonly Prefix[] {
  const found: Prefix[] = [];
  let key = digest(String(model));
  let characters = 0;
  const add = (block: Json, salt = ''): void => {
    const { cache_control, ...rest } = block;
    const bytes = JSON.stringify(rest);
    key = digest(`${key}\n${salt}\n${bytes}`);
    characters += bytes.length;
    const tokens = Math.ceil(characters / CHARACTERS_PER_TOKEN);
    found.push({ key, tokens, isMarked: cache_control !== undefined });
  };
  for (const block of listed(tools)) add(block);
  for (const block of listed(system)) add(block);
  const salt = JSON.stringify([tool_choice, thinking]);
  for (const { role, content } of listed(messages)) {
    for (const block of listed(content)) add(block, `${salt} ${String(role)}`);
  }
  return found;
}

function listed(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
