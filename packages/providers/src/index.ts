export { type AnthropicProviderOptions, createAnthropicProvider } from './anthropic/index.ts';
export {
  type CompatibleModel,
  type CompatibleProvider,
  type ContentForm,
  createOpenAICompatibleProvider,
  type MaxTokensParameter,
  type ModelDefaults,
  type ModelListOptions,
  type OpenAICompatibleOptions,
} from './compatible/index.ts';
export { createElevenLabsProvider, type ElevenLabsProviderOptions } from './elevenlabs/index.ts';
export { createGeminiProvider, type GeminiProviderOptions } from './gemini/index.ts';
export { type ReadList, type ReadListOptions, readLiteLLM, readModelsDev } from './lists/index.ts';
export { createOpenAIProvider, type OpenAIProtocol, type OpenAIProviderOptions } from './openai/index.ts';
export type { ProviderOptions } from './options.ts';
export { createXAIProvider, type XAIProviderOptions } from './xai/index.ts';
