import type { FinishReason, Usage } from '@questline/core';
import { openAIFilms } from './openai-films.ts';
import { openAIMedia } from './openai-media.ts';
import { bytesOf, defaultUsage, type Frame, finishOf, type Script, type ScriptStep } from './script.ts';
import { type Protocol, startUpstream, type Upstream, type UpstreamOptions } from './server.ts';

const reasons: Record<FinishReason, string> = {
  stop: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  content_filter: 'content_filter',
  other: 'unknown',
};

/** Short where the real ones are long: tests walk over every byte of a stream. */
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
  // Padding of changing length hides how long a word is from who watches the wire.
  const length = (JSON.stringify(change).length * 7) % 11;
  return frame({ ...event, obfuscation: 'rXv7kQpL2sd'.slice(0, length) });
}

/** Counts the protocol's way: the prompt includes what was cached, the completion includes the reasoning. */
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

/** Where the servers that speak this protocol differ. */
export interface CompletionWords {
  usage(usage: Usage): Record<string, unknown>;
  error(message: string, code: string): unknown;
  /** Calls come in one piece. */
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
  // Thoughts that may not be shown are no part of this protocol.
  return 'redacted' in step ? [] : [step];
}

/** The stream of a script, in the words of one of these servers. */
export function completionFrames(script: Script, words: CompletionWords): Frame[] {
  const out: Frame[] = [delta({ role: 'assistant', content: '', refusal: null })];
  let tools = 0;
  for (const step of script.steps ?? []) {
    out.push(...stepFrames(step, tools, words));
    if ('tool' in step) tools += 1;
    if ('error' in step) return out;
  }
  const reason = finishOf(script);
  if (reason !== 'none') {
    out.push(delta({}, reasons[reason]));
    out.push(frame({ ...head, choices: [], usage: words.usage(script.usage ?? defaultUsage) }));
    out.push('data: [DONE]\n\n');
  }
  return out;
}

const frames = (script: Script) => completionFrames(script, openAIWords);

function embeddings(body: unknown): unknown {
  const { input, dimensions = 3 } = body as { input: string[]; dimensions?: number };
  // Out of order on purpose: what says which input it belongs to is the index.
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
  answer: (path, body, exchange) =>
    path.endsWith('/embeddings')
      ? embeddings(body)
      : (openAIMedia(path, body) ?? openAIFilms(path, body, exchange)),
};

/** The stream a script makes, as bytes. */
export function openAIStream(script: Script): Buffer {
  return bytesOf(frames(script));
}

/** A local server that speaks the chat completions protocol of OpenAI. */
export function createOpenAIUpstream(options?: UpstreamOptions): Promise<Upstream> {
  return startUpstream(openAIProtocol, options);
}
