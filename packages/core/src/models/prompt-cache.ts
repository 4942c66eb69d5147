import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { PromptCacheHints } from '../ports/models.ts';
import { withMaxEntries } from '../shared/cache-size.ts';

/** Use of the providers' prompt caches. `ttl`: lifetime of entries, if the provider offers a choice. */
export type PromptCacheSetting = 'auto' | 'off' | { readonly ttl: '5m' | '1h' };

/** The scope whose calls share a prompt prefix. */
export type PromptCacheScope = 'session' | 'user';

const KEY_LENGTH = 32;
const MAX_RECENT = 1000;

/** Returns the cache hints for a provider. The key is a hash that reveals no id. */
export function cacheHints(
  setting: PromptCacheSetting,
  scope: PromptCacheScope,
  id: string,
): PromptCacheHints {
  if (setting === 'off') return { mode: 'off' };
  const key = hash('sha256', `questline:${scope}:${id}`, 'base64url').slice(0, KEY_LENGTH);
  return { mode: 'auto', key, ...(setting !== 'auto' && { ttl: setting.ttl }) };
}

/** Remembers the hints of recent ids. */
export function createCacheHints(
  setting: PromptCacheSetting,
  scope: PromptCacheScope,
): (id: string) => PromptCacheHints {
  const recent = new LRUCache<string, PromptCacheHints>(withMaxEntries(MAX_RECENT));
  return (id) => {
    const known = recent.get(id);
    if (known !== undefined) return known;
    const hints = cacheHints(setting, scope, id);
    recent.set(id, hints);
    return hints;
  };
}
