import type { ModelProvider } from '@questline/core/ports';
import type { Configuration, ProviderName } from './environment/configuration.ts';
import type { OpenAIServer, ProviderLimits } from './environment/models.ts';

interface Access {
  readonly apiKey: string | undefined;
  readonly limits: ProviderLimits;
}

const LOADERS: Readonly<Record<ProviderName, (access: Access) => Promise<ModelProvider>>> = {
  anthropic: async ({ apiKey, limits }) =>
    (await import('@questline/providers/anthropic')).createAnthropicProvider({ apiKey, ...limits }),
  openai: async ({ apiKey, limits }) =>
    (await import('@questline/providers/openai')).createOpenAIProvider({ apiKey, ...limits }),
  gemini: async ({ apiKey, limits }) =>
    (await import('@questline/providers/gemini')).createGeminiProvider({ apiKey, ...limits }),
  xai: async ({ apiKey, limits }) =>
    (await import('@questline/providers/xai')).createXAIProvider({ apiKey, ...limits }),
  elevenlabs: async ({ apiKey, limits }) =>
    (await import('@questline/providers/elevenlabs')).createElevenLabsProvider({ apiKey, ...limits }),
};

/** Providers for which users may store their own keys. */
const OF_USERS: readonly ProviderName[] = ['anthropic', 'openai', 'gemini', 'xai'];

export interface ProvidersInput
  extends Pick<Configuration, 'providerKeys' | 'openAIServer' | 'providerLimits'> {
  /** Called when the models at OPENAI_BASE_URL cannot be listed. */
  readonly onListingError: (error: unknown) => void;
}

/**
 * Providers with a key, in the order of the keys, and the server at OPENAI_BASE_URL; then providers without a key, whose
 * models are available to users with their own keys.
 */
export function createProviders(input: ProvidersInput): Promise<ModelProvider[]> {
  const { providerKeys, openAIServer, providerLimits: limits } = input;
  const names = new Set([...providerKeys.keys(), ...OF_USERS]);
  return Promise.all(
    [...names].map((name) => {
      const access = { apiKey: providerKeys.get(name), limits };
      if (name !== 'openai' || openAIServer === undefined) return LOADERS[name](access);
      return loadOpenAIServer(openAIServer, access, input.onListingError);
    }),
  );
}

async function loadOpenAIServer(
  server: OpenAIServer,
  { apiKey, limits }: Access,
  onListingError: (error: unknown) => void,
): Promise<ModelProvider> {
  const { baseUrl, protocol, models, contextWindow, supportsTools, prices, maxTokensParameter } = server;
  if (protocol === 'responses' || models === 'openai') {
    const { createOpenAIProvider } = await import('@questline/providers/openai');
    const named = Array.isArray(models) ? (models as readonly string[]) : undefined;
    const window = contextWindow ?? 8192;
    return createOpenAIProvider({
      apiKey: apiKey ?? (named === undefined ? undefined : 'none'),
      baseUrl,
      protocol,
      ...(maxTokensParameter !== undefined && { maxTokensField: maxTokensParameter }),
      ...(named !== undefined && {
        models: () =>
          named.map((id) => ({
            id,
            name: id,
            type: 'text',
            provider: 'openai',
            contextWindow: window,
            maxOutputTokens: Math.floor(window / 2),
            supportsStreaming: true,
            supportsTools,
            ...(prices !== undefined && { prices }),
          })),
      }),
      ...limits,
    });
  }
  const { createOpenAICompatibleProvider } = await import('@questline/providers/compatible');
  const provider = createOpenAICompatibleProvider({
    id: 'openai',
    apiKey,
    baseUrl,
    ...(models === 'list'
      ? { listModels: { onError: onListingError } }
      : { models: models as readonly string[] }),
    contextWindow,
    supportsTools,
    prices,
    ...(maxTokensParameter !== undefined && { maxTokensParameter }),
    ...limits,
  });
  // The server starts without the list and requests it again later.
  if (models === 'list') await provider.refreshModels().catch(onListingError);
  return provider;
}
