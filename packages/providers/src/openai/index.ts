import {
  findIgnoredFields,
  type GenerateOptions,
  type ModelInfo,
  type ModelProvider,
  type ReasoningEffort,
} from '@questline/core/ports';
import { createUpstream } from '../http/upstream.ts';
import { openAIModels } from '../models/openai.ts';
import { getKey, headersByKey, knownModels, type ProviderOptions } from '../options.ts';
import { generateResponse } from '../responses/generate.ts';
import { createResponseBody, type ResponseDialect } from '../responses/request.ts';
import { generateCompletion } from './chat.ts';
import { readOpenAIError } from './errors.ts';
import { getEffortLevels, isReasoningModel } from './families.ts';
import { createMedia } from './media.ts';
import { type CompletionDialect, completionBody, type MaxTokensParameter } from './request.ts';

export type OpenAIProtocol = 'responses' | 'chat';

export interface OpenAIProviderOptions extends ProviderOptions {
  /**
   * The protocol of text models. `responses`: OpenAI's Responses API. `chat`: chat completions, with which OpenAI's
   * current models take no tools. Default: `responses`; `chat` where one of the two options below is given.
   */
  readonly protocol?: OpenAIProtocol;
  /** Chat completions: the field for the output cap. Default: depends on the model. */
  readonly maxTokensField?: MaxTokensParameter;
  /** Chat completions: ask for token counts in the stream. Default true; false for servers that refuse `stream_options`. */
  readonly streamUsage?: boolean;
}

/** OpenAI and xAI may reason for minutes before the first text. */
const PATIENT_MS = 900_000;

/**
 * OpenAI, or a proxy of its API at `baseUrl`. For other services see `createOpenAICompatibleProvider`.
 * Times to the first byte and between two reads are 15 minutes unless given, because models may think in silence.
 * @throws TypeError when `baseUrl` is no URL.
 */
export function createOpenAIProvider(options: OpenAIProviderOptions = {}): ModelProvider {
  const { apiKey, id = 'openai', baseUrl = 'https://api.openai.com/v1' } = options;
  const { maxTokensField, streamUsage } = options;
  const { protocol = maxTokensField === undefined && streamUsage === undefined ? 'responses' : 'chat' } =
    options;
  const upstream = createUpstream(id, baseUrl, readOpenAIError, {
    firstByteTimeoutMs: PATIENT_MS,
    idleTimeoutMs: PATIENT_MS,
    ...options,
  });
  const known = knownModels(id, openAIModels, options);
  const offered = apiKey ? known : [];
  const traits = createTraits(known);
  const chat: CompletionDialect = {
    provider: id,
    getMaxTokensParameter: (model) =>
      maxTokensField ?? (isReasoningModel(model) ? 'max_completion_tokens' : 'max_tokens'),
    streamUsage: streamUsage ?? true,
    takesEffort: traits.reasons,
    getEffortLevels: traits.getEffortLevels,
    takesSampling: (model) => !isReasoningModel(model),
    hasTopK: false,
    hasCacheKey: true,
    files: true,
  };
  const responses: ResponseDialect = {
    provider: id,
    ...traits,
    takesSampling: (model) => !isReasoningModel(model),
    hasSeed: false,
    minOutputTokens: 16,
    files: true,
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

    async generate(request, call) {
      const granted = { ...access(call), signal: call.signal };
      if (protocol === 'chat') return generateCompletion(upstream, chat, request, granted);
      return generateResponse(upstream, responses, request, granted);
    },

    ignores: (request) =>
      findIgnoredFields(request, (one) =>
        protocol === 'chat'
          ? completionBody(one, chat)
          : createResponseBody(one, responses, { withReasoning: true }),
      ),

    ...createMedia(upstream, access),

    close: () => upstream.close(),
  };
}

interface Traits {
  reasons(model: string): boolean;
  getEffortLevels(model: string): readonly ReasoningEffort[] | undefined;
}

/** The abilities of a model: from its entry if it has one, otherwise from its name. */
function createTraits(known: readonly ModelInfo[]): Traits {
  const byName = new Map(known.map((model) => [model.providerModel ?? model.id, model]));
  return {
    reasons: (model) => isReasoningModel(model) || byName.get(model)?.supportsThinking === true,
    getEffortLevels: (model) => byName.get(model)?.reasoningEfforts ?? getEffortLevels(model),
  };
}
