import type { ModelProvider } from '@questline/core';
import { typed } from '../http/multipart.ts';
import { createUpstream } from '../http/upstream.ts';
import { openAIModels } from '../models/openai.ts';
import { headersByKey, keyOf, knownModels, type ProviderOptions } from '../options.ts';
import { speechBody, speechResult, transcriptionForm, transcriptionResult } from './audio.ts';
import { embeddingBody, embeddingResult } from './embeddings.ts';
import { readOpenAIError } from './errors.ts';
import { CompletionDecoder, splitUsage } from './events.ts';
import { drawImages } from './images.ts';
import { type CompletionDialect, completionBody } from './request.ts';
import { createVideos } from './videos.ts';

export interface OpenAIProviderOptions extends ProviderOptions {
  /** The field that bounds an answer. Default: `max_completion_tokens` at OpenAI itself, `max_tokens` elsewhere. */
  readonly maxTokensField?: 'max_completion_tokens' | 'max_tokens';
  /** Ask for token counts in the stream. Default true; false for servers that refuse `stream_options`. */
  readonly streamUsage?: boolean;
}

/**
 * OpenAI, or any service that speaks its chat completions protocol at `baseUrl`.
 * @throws TypeError when `baseUrl` is no URL.
 */
export function createOpenAIProvider(options: OpenAIProviderOptions = {}): ModelProvider {
  const { apiKey, id = 'openai', baseUrl = 'https://api.openai.com/v1', streamUsage = true } = options;
  const vendor = /(^|\.)(openai\.com|openai\.azure\.com)$/.test(new URL(baseUrl).hostname);
  const upstream = createUpstream(id, baseUrl, readOpenAIError, options);
  const known = knownModels(id, openAIModels, options);
  const efforts = new Set(
    known.filter((model) => model.supportsThinking).map((model) => model.providerModel ?? model.id),
  );
  const offered = apiKey ? known : [];
  const dialect: CompletionDialect = {
    provider: id,
    maxTokensField: options.maxTokensField ?? (vendor ? 'max_completion_tokens' : 'max_tokens'),
    streamUsage,
    takesEffort: (model) => reasoningModel.test(model) || efforts.has(model),
    takesTemperature: (model) => !reasoningModel.test(model),
    files: true,
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
        (faults) => new CompletionDecoder({ faults, split: splitUsage, usage: streamUsage }),
      );
    },

    async embed(request, call) {
      const key = keyOf(id, apiKey, call);
      const body = JSON.stringify(embeddingBody(request));
      const answer = await upstream.json({
        path: '/embeddings',
        headers: headers(key),
        body,
        key,
        signal: call.signal,
      });
      return embeddingResult(answer, request.inputs.length);
    },

    async image(request, { signal, ...call }) {
      const key = keyOf(id, apiKey, call);
      return drawImages(upstream, request, { headers: (type) => typed(headers(key), type), key, signal });
    },

    async speech(request, { signal, ...call }) {
      const key = keyOf(id, apiKey, call);
      const body = speechBody(request);
      const answer = await upstream.bytes({
        path: '/audio/speech',
        headers: headers(key),
        body,
        key,
        signal,
      });
      return speechResult(request.format, answer.data);
    },

    async transcribe(request, { signal, ...call }) {
      const key = keyOf(id, apiKey, call);
      const { contentType, body } = transcriptionForm(request);
      const answer = await upstream.json({
        path: '/audio/transcriptions',
        headers: typed(headers(key), contentType),
        body,
        key,
        signal,
      });
      return transcriptionResult(answer);
    },

    video: createVideos(upstream, (call) => {
      const key = keyOf(id, apiKey, call);
      return { key, headers: headers(key) };
    }),

    close: () => upstream.close(),
  };
}

/** OpenAI's models that always reason: they take an effort, and no temperature. */
const reasoningModel = /^(o\d|gpt-(5|6)(?!.*chat))/;
