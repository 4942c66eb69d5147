export { anthropicStream, createAnthropicUpstream } from './anthropic.ts';
export { createElevenLabsUpstream } from './elevenlabs.ts';
export { createGeminiUpstream, geminiStream } from './gemini.ts';
export {
  createCompatibleUpstream,
  createOpenAIUpstream,
  openAIResponsesStream,
  openAIStream,
} from './openai.ts';
export { createPromptCache, type PromptCache, type PromptCacheOptions } from './prompt-cache.ts';
export type { Script, ScriptSource, ScriptStep } from './script.ts';
export type { Upstream, UpstreamOptions, UpstreamRequest } from './upstream.ts';
export type { VideoScript } from './videos.ts';
export { createXAIUpstream, xaiStream } from './xai.ts';
