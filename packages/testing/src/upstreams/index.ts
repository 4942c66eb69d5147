export { anthropicStream, createAnthropicUpstream } from './anthropic.ts';
export { createElevenLabsUpstream } from './elevenlabs.ts';
export type { FilmScript } from './films.ts';
export { createGeminiUpstream, geminiStream } from './gemini.ts';
export { createOpenAIUpstream, openAIStream } from './openai.ts';
export type { Script, ScriptSource, ScriptStep } from './script.ts';
export type { Upstream, UpstreamOptions, UpstreamRequest } from './server.ts';
export { createXAIUpstream, xaiStream } from './xai.ts';
