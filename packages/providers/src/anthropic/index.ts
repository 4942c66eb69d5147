import { findIgnoredFields, type ModelProvider } from '@questline/core/ports';
import { createUpstream } from '../http/upstream.ts';
import { anthropicModels } from '../models/anthropic.ts';
import { getKey, headersByKey, knownModels, type ProviderOptions } from '../options.ts';
import { readAnthropicError } from './errors.ts';
import { MessageDecoder } from './events.ts';
import { messageCall } from './request.ts';

/** Without it, the API rejects a call with a thinking block whose conversation has changed since. */
const dropThoughts = ['anthropic-beta', 'thinking-binding-controls-2026-08-01'] as const;

/*
 * Follows the messages API, version 2023-06-01
 * (https://platform.claude.com/docs/en/api/messages), tool use (/docs/en/agents-and-tools/tool-use/implement-tool-use),
 * adaptive and extended thinking (/docs/en/build-with-claude/adaptive-thinking, …/extended-thinking), prompt caching
 * (…/prompt-caching), and the models' limits as in @ai-sdk/anthropic 4.0.105 (November 2026).
 */

export type AnthropicProviderOptions = ProviderOptions;

/**
 * Anthropic's messages API, or a service that speaks it at `baseUrl`.
 * @throws TypeError when `baseUrl` is no URL.
 */
export function createAnthropicProvider(options: AnthropicProviderOptions = {}): ModelProvider {
  const { apiKey, id = 'anthropic', baseUrl = 'https://api.anthropic.com/v1' } = options;
  const upstream = createUpstream(id, baseUrl, readAnthropicError, options);
  const known = knownModels(id, anthropicModels, options);
  const offered = apiKey ? known : [];
  const minCached = new Map(
    known.map((model) => [model.providerModel ?? model.id, model.minCacheTokens] as const),
  );
  const headers = headersByKey(options, (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }));

  return {
    id,
    models: () => offered,
    modelsForOwnKey: () => known,

    async generate(request, call) {
      const key = getKey(id, apiKey, call);
      const { body, dropsThoughts } = messageCall(request, id, minCached.get(request.model));
      const sent = dropsThoughts ? [...headers(key), ...dropThoughts] : headers(key);
      return upstream.stream(
        { path: '/messages', headers: sent, body: JSON.stringify(body), key, signal: call.signal },
        (faults) => new MessageDecoder(faults),
      );
    },

    ignores: (request) => findIgnoredFields(request, (one) => messageCall(one, id).body),

    close: () => upstream.close(),
  };
}
