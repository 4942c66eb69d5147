import {
  findIgnoredFields,
  type GenerateOptions,
  type ModelProvider,
  type ReasoningEffort,
} from '@questline/core/ports';
import { createUpstream } from '../http/upstream.ts';
import { xaiModels } from '../models/xai.ts';
import { getKey, headersByKey, knownModels, type ProviderOptions } from '../options.ts';
import { generateResponse } from '../responses/generate.ts';
import { createResponseBody, type ResponseDialect } from '../responses/request.ts';
import { readXAIError } from './errors.ts';
import { createVideos } from './videos.ts';

/*
 * xAI's Responses API, by https://docs.x.ai/developers/model-capabilities/text/best-practices and
 * https://docs.x.ai/docs/api-reference#create-new-response, both read on 2026-11-22. Chat Completions is deprecated there
 * and has no field for the model's encrypted reasoning.
 */

export type XAIProviderOptions = ProviderOptions;

/** The vendor's minimum: 900 seconds. */
const PATIENT_MS = 900_000;

/**
 * xAI: the Responses API with its own errors, a seed, and no documents.
 * Times to the first byte and between two reads are 15 minutes unless given, as the vendor asks for.
 * @throws TypeError when `baseUrl` is no URL.
 */
export function createXAIProvider(options: XAIProviderOptions = {}): ModelProvider {
  const { apiKey, id = 'xai', baseUrl = 'https://api.x.ai/v1' } = options;
  const upstream = createUpstream(id, baseUrl, readXAIError, {
    firstByteTimeoutMs: PATIENT_MS,
    idleTimeoutMs: PATIENT_MS,
    ...options,
  });
  const known = knownModels(id, xaiModels, options);
  const offered = apiKey ? known : [];
  const byName = new Map(known.map((model) => [model.providerModel ?? model.id, model]));
  const dialect: ResponseDialect = {
    provider: id,
    reasons: (model) => byName.get(model)?.supportsThinking ?? reasons(model),
    getEffortLevels: (model) => byName.get(model)?.reasoningEfforts ?? getEffortLevels(model),
    takesSampling: () => true,
    hasSeed: true,
    minOutputTokens: 1,
    files: false,
  };
  const headers = headersByKey(options, (key) => ({ authorization: `Bearer ${key}` }));
  const access = (call: GenerateOptions) => {
    const key = getKey(id, apiKey, call);
    return { key, headers: headers(key) };
  };

  return {
    id,
    models: () => offered,
    modelsForOwnKey: () => known,
    generate: async (request, call) =>
      generateResponse(upstream, dialect, request, { ...access(call), signal: call.signal }),
    ignores: (request) =>
      findIgnoredFields(request, (one) => createResponseBody(one, dialect, { withReasoning: true })),
    video: createVideos(upstream, access),
    close: () => upstream.close(),
  };
}

/** These models reject an effort. */
function reasons(model: string): boolean {
  return /^grok-/.test(model) && !/^grok-4\.20(-\d{4})?-(non-)?reasoning$/.test(model);
}

/** Levels of effort, lowest first. Undefined: unknown. */
function getEffortLevels(model: string): readonly ReasoningEffort[] | undefined {
  if (/^grok-4\.6/.test(model)) return ['none', 'low', 'medium', 'high', 'xhigh'];
  return /^grok-4/.test(model) ? ['none', 'low', 'medium', 'high'] : undefined;
}
