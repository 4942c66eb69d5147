import type { FinishReason, Usage } from '@questline/core/ports';
import { openAIMedia } from './openai-media.ts';
import { checkChatCompletion, checkResponse, RESPONSE_FIELDS, type RuleVendor } from './openai-rules.ts';
import { openAIVideos } from './openai-videos.ts';
import type { Protocol } from './protocol.ts';
import { type ResponsesVendor, responsesFrames } from './responses.ts';
import { defaultUsage, type Frame, getFinish, type Script, type ScriptStep, toBytes } from './script.ts';
import { startUpstream } from './server.ts';
import type { Upstream, UpstreamOptions } from './upstream.ts';

const reasons: Record<FinishReason, string> = {
  stop: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  content_filter: 'content_filter',
  other: 'unknown',
};

/** Shorter than real ones: tests cut streams at every byte. */
const head = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'gpt-test',
};

function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function delta(change: Record<string, unknown>, reason: string | null = null): string {
  const event = {
    ...head,
    choices: [{ index: 0, delta: change, finish_reason: reason }],
    usage: null,
  };
  // Padding of varying length hides the length of the text from observers of the traffic.
  const length = (JSON.stringify(change).length * 7) % 11;
  return frame({ ...event, obfuscation: 'rXv7kQpL2sd'.slice(0, length) });
}

/** Usage in the protocol's format: the prompt includes cached tokens, the completion includes the reasoning. */
export function openAIUsage(usage: Usage): Record<string, unknown> {
  const prompt = (usage.input ?? 0) + (usage.cachedInput ?? 0);
  const completion = (usage.output ?? 0) + (usage.reasoning ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cachedInput ?? 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0, audio_tokens: 0 },
  };
}

/** The differences between servers of this protocol. */
export interface CompletionWords {
  usage(usage: Usage): Record<string, unknown>;
  error(message: string, code: string): unknown;
  /** Calls arrive in one piece. */
  readonly wholeCalls: boolean;
}

const openAIWords: CompletionWords = {
  usage: openAIUsage,
  error: (message, code) => ({ error: { message, type: 'server_error', param: null, code } }),
  wholeCalls: false,
};

function stepFrames(step: ScriptStep, tool: number, words: CompletionWords): Frame[] {
  if ('text' in step) return [delta({ content: step.text })];
  if ('thinking' in step) return [delta({ reasoning_content: step.thinking })];
  if ('tool' in step) {
    const call = (name: string, args: string) => ({
      index: tool,
      id: step.id,
      type: 'function',
      function: { name, arguments: args },
    });
    if (words.wholeCalls) return [delta({ tool_calls: [call(step.tool, step.arguments.join('') || '{}')] })];
    return [
      delta({ tool_calls: [call(step.tool, '')] }),
      ...step.arguments.map((piece) =>
        delta({ tool_calls: [{ index: tool, function: { arguments: piece } }] }),
      ),
    ];
  }
  if ('error' in step) return [frame(words.error(step.error, step.code))];
  if ('data' in step) return [`data: ${step.data}\n\n`];
  if ('raw' in step) return [step.raw];
  // The protocol has no hidden thoughts.
  return 'redacted' in step ? [] : [step];
}

/** The stream of a script in the format of one of these servers. */
export function completionFrames(script: Script, words: CompletionWords): Frame[] {
  const out: Frame[] = [delta({ role: 'assistant', content: '', refusal: null })];
  let tools = 0;
  for (const step of script.steps ?? []) {
    out.push(...stepFrames(step, tools, words));
    if ('tool' in step) tools += 1;
    if ('error' in step) return out;
  }
  const reason = getFinish(script);
  if (reason !== 'none') {
    out.push(delta({}, reasons[reason]));
    out.push(frame({ ...head, choices: [], usage: words.usage(script.usage ?? defaultUsage) }));
    out.push('data: [DONE]\n\n');
  }
  return out;
}

const chatFrames = (script: Script) => completionFrames(script, openAIWords);

const openAIVendor: ResponsesVendor & RuleVendor = {
  minOutputTokens: 16,
  encryptedPrefix: 'gAAAAA',
  error: (message, code) => ({ code, message, param: null }),
  wholeCalls: false,
};

const frames = (script: Script, path: string) =>
  isResponses(path) ? responsesFrames(script, openAIVendor) : chatFrames(script);

/** Whether a request goes to the Responses API. */
export function isResponses(path: string): boolean {
  return /\/responses($|\?)/.test(path);
}

/** The model list of this protocol. */
function listModels(script: Script): unknown {
  return { object: 'list', data: script.models ?? [{ id: 'test-model', object: 'model', owned_by: 'test' }] };
}

function embeddings(body: unknown): unknown {
  const { input, dimensions = 3 } = body as { input: string[]; dimensions?: number };
  // Out of order on purpose: the index determines the input.
  const data = input
    .map((text, index) => ({
      object: 'embedding',
      index,
      embedding: Array.from({ length: dimensions }, (_, place) => (text.length + place) / 8),
    }))
    .reverse();
  const tokens = input.reduce((sum, text) => sum + text.length, 0);
  return {
    object: 'list',
    data,
    model: 'embedding-test',
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

const openAIProtocol: Protocol = {
  basePath: '/v1',
  frames,
  answer(path, body, exchange) {
    if (exchange.method === 'GET' && path.endsWith('/models')) return listModels(exchange.script);
    if (path.endsWith('/embeddings')) return embeddings(body);
    const refusal = checkRules(path, body);
    return refusal ?? openAIMedia(path, body) ?? openAIVideos(path, body, exchange);
  },
};

function checkRules(path: string, body: unknown): unknown {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  if (isResponses(path)) return checkResponse(fields, openAIVendor, RESPONSE_FIELDS);
  return path.includes('/chat/completions') ? checkChatCompletion(fields) : undefined;
}

/** A server of the chat completions protocol only: without keys and rules of OpenAI's models. */
const compatibleProtocol: Protocol = {
  basePath: '/v1',
  frames: chatFrames,
  answer(path, body, { method, script }) {
    if (method === 'GET' && path.endsWith('/models')) return listModels(script);
    if (path.endsWith('/embeddings')) return embeddings(body);
    if (path.includes('/chat/completions')) return undefined;
    return { status: 404, body: { detail: 'Not Found' } };
  },
};

/** The chat completions stream of a script as bytes. */
export function openAIStream(script: Script): Buffer {
  return toBytes(chatFrames(script));
}

/** The Responses API stream of a script as bytes. */
export function openAIResponsesStream(script: Script): Buffer {
  return toBytes(responsesFrames(script, openAIVendor));
}

/** A local server like Ollama, vLLM, llama.cpp or LM Studio: chat completions, embeddings and a list of models. */
export function createCompatibleUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(compatibleProtocol, options);
}

/** A local server of OpenAI's Responses API and chat completions that rejects what OpenAI rejects. */
export function createOpenAIUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(openAIProtocol, options);
}
