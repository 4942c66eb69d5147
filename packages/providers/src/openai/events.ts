import { type FinishReason, type ModelPart, ProviderError, type Usage } from '@questline/core';
import { text as textOf } from '../content/fields.ts';
import { finishPart } from '../content/finish.ts';
import { TextTemplate } from '../content/text-template.ts';
import { checkGathered, isJsonObject } from '../content/tool-arguments.ts';
import type { EventDecoder } from '../http/event-stream.ts';
import type { Faults } from '../http/faults.ts';

/** Token counts of the chat completions protocol. Everything may be missing: compatible servers differ. */
export interface CompletionUsage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number | null;
    readonly cache_write_tokens?: number | null;
  } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}

interface ToolCallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
}

interface Choice {
  readonly delta?: {
    readonly content?: string | null;
    readonly refusal?: string | null;
    readonly reasoning_content?: string | null;
    readonly reasoning?: string | null;
    readonly tool_calls?: readonly ToolCallDelta[] | null;
  } | null;
  readonly finish_reason?: string | null;
}

interface CompletionChunk {
  readonly model?: unknown;
  readonly choices?: readonly Choice[] | null;
  readonly usage?: CompletionUsage | null;
  readonly error?: unknown;
}

interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'content_filter',
};

/** How one vendor's counting becomes classes that don't overlap. */
export type UsageSplit = (usage: CompletionUsage) => Usage;

/** OpenAI: the prompt includes what was cached, the completion includes the reasoning. */
export function splitUsage(usage: CompletionUsage): Usage {
  const cachedInput = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const cacheWrite = usage.prompt_tokens_details?.cache_write_tokens ?? 0;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    input: Math.max(0, (usage.prompt_tokens ?? 0) - cachedInput - cacheWrite),
    output: Math.max(0, (usage.completion_tokens ?? 0) - reasoning),
    cachedInput,
    cacheWrite,
    reasoning,
  };
}

export interface CompletionDecoderOptions {
  readonly faults: Faults;
  readonly split: UsageSplit;
  /** False when the server was not asked to count: the finish reason alone then makes an answer complete. */
  readonly usage: boolean;
}

/** Reads the events of the chat completions protocol. */
export class CompletionDecoder implements EventDecoder {
  readonly #options: CompletionDecoderOptions;
  readonly #calls: (ToolCall | undefined)[] = [];
  readonly #template = new TextTemplate('content', (data) => plainText(JSON.parse(data) as CompletionChunk));
  #reasoning = '';
  #model: string | undefined;
  #reason: FinishReason | undefined;
  #counted = false;

  constructor(options: CompletionDecoderOptions) {
    this.#options = options;
  }

  event(data: string, parts: ModelPart[]): boolean {
    const text = this.#template.read(data);
    if (text !== undefined) {
      parts.push({ type: 'text', text });
      return false;
    }
    if (data === '[DONE]') {
      if (this.#reason === undefined) throw new ProviderError('failed', 'ended without a finish reason');
      parts.push(finishPart(this.#reason, this.#model));
      return true;
    }
    const chunk = JSON.parse(data) as CompletionChunk;
    if (chunk.error !== undefined && chunk.error !== null) throw this.#options.faults.event(chunk);
    this.#model ??= textOf(chunk.model);
    const plain = plainText(chunk);
    if (plain !== undefined) this.#template.learn(data, plain);
    const choice = chunk.choices?.[0];
    if (choice !== undefined) this.#choice(choice, parts);
    if (chunk.usage !== undefined && chunk.usage !== null) {
      this.#counted = true;
      parts.push({ type: 'usage', usage: this.#options.split(chunk.usage) });
    }
    return false;
  }

  end(parts: ModelPart[]): void {
    // Some compatible servers close without `[DONE]`. Reason and count have come: nothing is missing.
    if (this.#reason === undefined || (this.#options.usage && !this.#counted)) {
      throw new ProviderError('failed', 'the stream ended before the answer was complete');
    }
    parts.push(finishPart(this.#reason, this.#model));
  }

  #choice(choice: Choice, parts: ModelPart[]): void {
    const delta = choice.delta;
    if (delta !== undefined && delta !== null) {
      if (delta.content) parts.push({ type: 'text', text: delta.content });
      // What a model says in place of an answer is still what it says.
      if (delta.refusal) parts.push({ type: 'text', text: delta.refusal });
      const reasoning = delta.reasoning_content ?? delta.reasoning;
      if (reasoning) {
        this.#reasoning += reasoning;
        checkGathered(this.#reasoning.length);
        parts.push({ type: 'thinking_delta', text: reasoning });
      }
      if (delta.tool_calls) for (const call of delta.tool_calls) this.#toolCall(call);
    }
    if (choice.finish_reason && this.#reason === undefined) this.#finish(choice.finish_reason, parts);
  }

  #toolCall(delta: ToolCallDelta): void {
    const index = delta.index ?? this.#indexOf(delta.id);
    if (index > 1000) throw new ProviderError('failed', 'more tool calls than anybody makes');
    let call = this.#calls[index];
    if (call === undefined) {
      call = { id: '', name: '', arguments: '' };
      this.#calls[index] = call;
    }
    if (delta.id) call.id = delta.id;
    if (delta.function?.name) call.name = delta.function.name;
    const piece = delta.function?.arguments;
    if (typeof piece === 'string') call.arguments += piece;
    // Some compatible servers send the arguments as an object.
    else if (piece !== undefined && piece !== null) call.arguments = JSON.stringify(piece);
    checkGathered(call.arguments.length);
  }

  /** Some compatible servers number nothing: an id not seen before opens a call, no id continues the last one. */
  #indexOf(id: string | null | undefined): number {
    if (!id) return Math.max(0, this.#calls.length - 1);
    const known = this.#calls.findIndex((call) => call?.id === id);
    return known === -1 ? this.#calls.length : known;
  }

  #finish(word: string, parts: ModelPart[]): void {
    let reason = reasons[word] ?? 'other';
    if (this.#reasoning !== '') {
      parts.push({ type: 'thinking', block: { type: 'reasoning_content', text: this.#reasoning } });
    }
    const calls = this.#calls.filter((call) => call !== undefined);
    for (const [place, call] of calls.entries()) {
      const text = call.arguments.trim() === '' ? '{}' : call.arguments;
      if (call.name === '' || !isJsonObject(text)) {
        // The last call of an answer cut short is half a call: the reason tells, and nobody can run it.
        if (reason === 'max_tokens' && place === calls.length - 1) continue;
        throw new ProviderError(
          'failed',
          'a tool call without a name, or with arguments that are no JSON object',
        );
      }
      parts.push({ type: 'tool_use', id: call.id || `call_${place}`, name: call.name, arguments: text });
    }
    // Some compatible servers say `stop` after a call.
    if (calls.length > 0 && reason === 'stop') reason = 'tool_use';
    this.#reason = reason;
  }
}

/** The text of an event that says nothing else. */
function plainText({ choices, usage, error }: CompletionChunk): string | undefined {
  const choice = choices?.[0];
  if (choice?.finish_reason || usage || error) return undefined;
  const { content, refusal, reasoning, reasoning_content: thought, tool_calls: calls } = choice?.delta ?? {};
  return content && !refusal && !reasoning && !thought && !calls ? content : undefined;
}
