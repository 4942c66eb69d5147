import {
  findIgnoredFields,
  type GenerateOptions,
  type ModelInfo,
  type ModelProvider,
  ProviderError,
} from '@questline/core/ports';
import { createUpstream } from '../http/upstream.ts';
import { generateCompletion } from '../openai/chat.ts';
import { readOpenAIError } from '../openai/errors.ts';
import { createMedia } from '../openai/media.ts';
import {
  type CompletionDialect,
  type ContentForm,
  completionBody,
  type MaxTokensParameter,
} from '../openai/request.ts';
import { headersByKey, type ProviderOptions } from '../options.ts';
import { createListing, type ModelListOptions } from './listing.ts';
import { type CompatibleModel, type ModelDefaults, toModelInfo } from './models.ts';

export type { ModelListOptions } from './listing.ts';
export type { CompatibleModel, ModelDefaults } from './models.ts';
export type { ContentForm, MaxTokensParameter };

export interface OpenAICompatibleOptions extends Omit<ProviderOptions, 'models'>, ModelDefaults {
  /** The provider id in model lists and charges. */
  readonly id: string;
  /** The base URL with its version, e.g. `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** Absent: calls have no key, for local servers. */
  readonly apiKey?: string | undefined;
  /** Models by name. With `listModels` they stand before the listed ones. */
  readonly models?: readonly (string | CompatibleModel)[];
  /** True, or options: uses the models of `GET /models`. Default: true without `models`. */
  readonly listModels?: boolean | ModelListOptions;
  /** The field for the output cap. Default `max_tokens`. */
  readonly maxTokensParameter?: MaxTokensParameter;
  /** The format of content. Default: a string for messages of one text, otherwise a list of parts. */
  readonly contentAs?: ContentForm;
  /** Ask for token counts in the stream. Default true; false for servers that refuse `stream_options`. */
  readonly streamUsage?: boolean;
  /** Send `prompt_cache_key`. Default false: servers that check their input refuse it. */
  readonly promptCacheKey?: boolean;
  /** Send `reasoning_effort` to models without a known thinking ability. Default false. */
  readonly reasoningEffort?: boolean;
}

/** A provider whose list of models can be refreshed. */
export interface CompatibleProvider extends ModelProvider {
  /**
   * Loads the models of the server now, e.g. before the first call. Does nothing without `listModels`. Rejects with a
   * `ProviderError`; the previous list stays.
   */
  refreshModels(): Promise<readonly ModelInfo[]>;
}

/**
 * A server of the chat completions protocol: Ollama, vLLM, llama.cpp, LM Studio, Mistral, Groq, OpenRouter and many others.
 * Listed models appear after the first load: by `refreshModels`, or in the background after the first read of the list.
 * @throws TypeError when `baseUrl` is no URL.
 */
export function createOpenAICompatibleProvider(options: OpenAICompatibleOptions): CompatibleProvider {
  const { id, baseUrl, apiKey, models = [], listModels = models.length === 0 } = options;
  const upstream = createUpstream(id, baseUrl, readOpenAIError, options);
  const headers = headersByKey({ apiKey: apiKey ?? '', headers: options.headers ?? {} }, (key) =>
    key === '' ? {} : { authorization: `Bearer ${key}` },
  );
  const access = (call: GenerateOptions) => {
    const key = call.apiKey ?? apiKey ?? '';
    return { key, headers: headers(key) };
  };

  const named = models.map((model) => (typeof model === 'string' ? { id: model } : model));
  const fixed = named.map((model) => toModelInfo(model, id, options));
  const listing =
    listModels === false
      ? { current: () => fixed, refresh: async () => fixed }
      : createListing(
          {
            provider: id,
            named,
            defaults: options,
            fetch: () => upstream.json({ ...access({}), path: '/models', method: 'GET', signal: undefined }),
            fault: () =>
              new ProviderError('malformed_answer', `${id}: GET /models answered no list of models`),
          },
          listModels === true ? {} : listModels,
        );

  const { maxTokensParameter = 'max_tokens', contentAs, streamUsage = true } = options;
  const find = (model: string): ModelInfo | undefined =>
    listing.current().find((one) => (one.providerModel ?? one.id) === model);
  const dialect: CompletionDialect = {
    provider: id,
    getMaxTokensParameter: () => maxTokensParameter,
    ...(contentAs !== undefined && { contentAs }),
    streamUsage,
    takesEffort: (model) => options.reasoningEffort ?? find(model)?.supportsThinking === true,
    getEffortLevels: (model) => find(model)?.reasoningEfforts,
    takesSampling: () => true,
    hasTopK: true,
    hasCacheKey: options.promptCacheKey ?? false,
    files: true,
  };

  return {
    id,
    models: () => listing.current(),
    refreshModels: () => listing.refresh(),
    generate: async (request, call) =>
      generateCompletion(upstream, dialect, request, { ...access(call), signal: call.signal }),
    ignores: (request) => findIgnoredFields(request, (one) => completionBody(one, dialect)),
    ...createMedia(upstream, access),
    close: () => upstream.close(),
  };
}
