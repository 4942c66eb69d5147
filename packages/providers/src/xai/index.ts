import type { ModelProvider, Usage } from '@questline/core';
import { createUpstream } from '../http/upstream.ts';
import { xaiModels } from '../models/xai.ts';
import { CompletionDecoder, type CompletionUsage } from '../openai/events.ts';
import { type CompletionDialect, completionBody } from '../openai/request.ts';
import { headersByKey, keyOf, knownModels, type ProviderOptions } from '../options.ts';
import { readXAIError } from './errors.ts';
import { createVideos } from './videos.ts';

export type XAIProviderOptions = ProviderOptions;

/**
 * xAI: the chat completions protocol with its own way to count, its own errors and no documents.
 * @throws TypeError when `baseUrl` is no URL.
 */
export function createXAIProvider(options: XAIProviderOptions = {}): ModelProvider {
  const { apiKey, id = 'xai', baseUrl = 'https://api.x.ai/v1' } = options;
  const upstream = createUpstream(id, baseUrl, readXAIError, options);
  const known = knownModels(id, xaiModels, options);
  const offered = apiKey ? known : [];
  const thinkers = new Set(
    known.filter((one) => one.supportsThinking).map((one) => one.providerModel ?? one.id),
  );
  const dialect: CompletionDialect = {
    provider: id,
    maxTokensField: 'max_completion_tokens',
    streamUsage: true,
    takesEffort: (model) => thinkers.has(model),
    takesTemperature: () => true,
    files: false,
  };
  const headers = headersByKey(options, (key) => ({ authorization: `Bearer ${key}` }));

  return {
    id,
    models: () => offered,
    modelsForOwnKey: () => known,

    async generate(request, call) {
      const key = keyOf(id, apiKey, call);
      const body = JSON.stringify(completionBody(request, dialect));
      return upstream.stream(
        { path: '/chat/completions', headers: headers(key), body, key, signal: call.signal },
        (faults) => new CompletionDecoder({ faults, split: splitUsage, usage: true }),
      );
    },

    video: createVideos(upstream, (call) => {
      const key = keyOf(id, apiKey, call);
      return { key, headers: headers(key) };
    }),

    close: () => upstream.close(),
  };
}

/** Unlike OpenAI's, the completion excludes the reasoning. The prompt includes what was cached. */
function splitUsage(usage: CompletionUsage): Usage {
  const cachedInput = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    input: Math.max(0, (usage.prompt_tokens ?? 0) - cachedInput),
    output: usage.completion_tokens ?? 0,
    cachedInput,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  };
}
