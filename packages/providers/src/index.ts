export { type AnthropicProviderOptions, createAnthropicProvider } from './anthropic/index.ts';
export { createElevenLabsProvider, type ElevenLabsProviderOptions } from './elevenlabs/index.ts';
export { createGeminiProvider, type GeminiProviderOptions } from './gemini/index.ts';
export { createOpenAIProvider, type OpenAIProviderOptions } from './openai/index.ts';
export type { ProviderOptions } from './options.ts';
export { createXAIProvider, type XAIProviderOptions } from './xai/index.ts';
