import type { ModelProvider } from '@questline/core';
import { createUpstream } from '../http/upstream.ts';
import { anthropicModels } from '../models/anthropic.ts';
import { headersByKey, keyOf, knownModels, type ProviderOptions } from '../options.ts';
import { readAnthropicError } from './errors.ts';
import { MessageDecoder } from './events.ts';
import { messageCall } from './request.ts';

/** Without it, a thought whose conversation has changed since makes the API refuse the whole call. */
const dropThoughts = ['anthropic-beta', 'thinking-binding-controls-2026-08-01'] as const;

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
  const headers = headersByKey(options, (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }));

  return {
    id,
    models: () => offered,
    modelsForOwnKey: () => known,

    async generate(request, call) {
      const key = keyOf(id, apiKey, call);
      const { body, dropsThoughts } = messageCall(request, id);
      const sent = dropsThoughts ? [...headers(key), ...dropThoughts] : headers(key);
      return upstream.stream(
        { path: '/messages', headers: sent, body: JSON.stringify(body), key, signal: call.signal },
        (faults) => new MessageDecoder(faults),
      );
    },

    close: () => upstream.close(),
  };
}
