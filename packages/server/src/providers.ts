import type { ModelProvider } from '@questline/core';
import type { Configuration, ProviderName } from './environment/configuration.ts';

interface Access {
  readonly apiKey: string | undefined;
  readonly openAIBaseUrl: string | undefined;
}

const LOADERS: Readonly<Record<ProviderName, (access: Access) => Promise<ModelProvider>>> = {
  anthropic: async ({ apiKey }) =>
    (await import('@questline/providers/anthropic')).createAnthropicProvider({ apiKey }),
  openai: async ({ apiKey, openAIBaseUrl: baseUrl }) =>
    (await import('@questline/providers/openai')).createOpenAIProvider({
      apiKey,
      ...(baseUrl !== undefined && { baseUrl }),
    }),
  gemini: async ({ apiKey }) =>
    (await import('@questline/providers/gemini')).createGeminiProvider({ apiKey }),
  xai: async ({ apiKey }) => (await import('@questline/providers/xai')).createXAIProvider({ apiKey }),
  elevenlabs: async ({ apiKey }) =>
    (await import('@questline/providers/elevenlabs')).createElevenLabsProvider({ apiKey }),
};

/** Whose keys users may bring. */
const OF_USERS: readonly ProviderName[] = ['anthropic', 'openai', 'gemini', 'xai'];

/**
 * The providers that have a key, in the order of their keys; then those without one, whose models are there for users who
 * bring a key of their own.
 */
export function createProviders({
  providerKeys,
  openAIBaseUrl,
}: Pick<Configuration, 'providerKeys' | 'openAIBaseUrl'>): Promise<ModelProvider[]> {
  const names = new Set([...providerKeys.keys(), ...OF_USERS]);
  return Promise.all(
    [...names].map((name) => LOADERS[name]({ apiKey: providerKeys.get(name), openAIBaseUrl })),
  );
}
