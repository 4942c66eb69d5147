import { hash } from 'node:crypto';
import type { PromptCacheHints } from '../ports/models.ts';

/** Use of the providers' prompt caches. `ttl`: lifetime of entries, if the provider offers a choice. */
export type PromptCacheSetting = 'auto' | 'off' | { readonly ttl: '5m' | '1h' };

/** The scope whose calls share a prompt prefix. */
export type PromptCacheScope = 'session' | 'user';

const KEY_LENGTH = 32;

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
