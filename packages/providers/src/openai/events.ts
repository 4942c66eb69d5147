import { type FinishReason, type ModelPart, ProviderError } from '@questline/core/ports';
import { readContentList } from '../content/content-list.ts';
import { text as getText } from '../content/fields.ts';
import { finishPart } from '../content/finish.ts';
import { TextTemplate } from '../content/text-template.ts';
import { checkGathered, isJsonObject } from '../content/tool-arguments.ts';
import type { EventDecoder } from '../http/event-stream.ts';
import type { Faults } from '../http/faults.ts';
import { type CompletionUsage, splitCompletionUsage } from './usage.ts';

/*
 * The events of chat completions, by the types of the npm package `openai` 7.57.0 (November 2026) and by observed events
 * of compatible servers.
 */

interface ToolCallDelta {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null;
}

interface Choice {
  readonly delta?: {
    readonly content?: unknown;
    readonly refusal?: string | null;
    readonly reasoning_content?: string | null;
    readonly reasoning?: string | null;
    readonly tool_calls?: readonly ToolCallDelta[] | null;
  } | null;
  readonly finish_reason?: string | null;
  readonly usage?: CompletionUsage | null;
}

interface CompletionChunk {
  readonly model?: unknown;
  readonly choices?: readonly Choice[] | null;
  readonly usage?: CompletionUsage | null;
  readonly x_groq?: { readonly usage?: CompletionUsage | null } | null;
  readonly error?: unknown;
}

interface ToolCall {
  id: string;
  name: string;
  arguments: string;
  /** The index of the call; set when its name is known. */
  index: number | undefined;
}

/** The format of received reasoning, so that it is sent back in the same one. */
type ReasoningField = 'reasoning_content' | 'reasoning' | 'content';

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'content_filter',
};

export interface CompletionDecoderOptions {
  readonly faults: Faults;
  /** False if the request did not ask for usage: then the finish reason completes an answer. */
  readonly usage: boolean;
}

/** Reads the events of the chat completions protocol. */
export class CompletionDecoder implements EventDecoder {
  readonly #options: CompletionDecoderOptions;
  readonly #calls: (ToolCall | undefined)[] = [];
  readonly #template = new TextTemplate('content');
  #reasoning = '';
  #reasoningField: ReasoningField = 'reasoning_content';
  #callCount = 0;
  #hasSpoken = false;
  #model: string | undefined;
  #reason: FinishReason | undefined;
  #counted = false;
  /** Usage arrived in a separate event after all others. */
  #hasFinalCount = false;

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
      // Some compatible servers send no finish reason; the terminator marks the end.
      if (this.#reason === undefined && this.#hasSpoken) this.#finish('stop', parts);
      if (this.#reason === undefined) throw new ProviderError('failed', 'ended without a finish reason');
      parts.push(finishPart(this.#reason, this.#model));
      return true;
    }
    const chunk = JSON.parse(data) as CompletionChunk;
    if (chunk.error !== undefined && chunk.error !== null) throw this.#options.faults.event(chunk);
    this.#model ??= getText(chunk.model);
    const plain = plainText(chunk);
    if (plain !== undefined) this.#template.learn(data, plain);
    const choice = chunk.choices?.[0];
    if (choice !== undefined) this.#choice(choice, parts);
    const usage = chunk.usage ?? choice?.usage ?? chunk.x_groq?.usage;
    if (usage !== undefined && usage !== null) {
      this.#counted = true;
      this.#hasFinalCount = choice === undefined;
      parts.push({ type: 'usage', usage: splitCompletionUsage(usage) });
    }
    return false;
  }

  end(parts: ModelPart[]): void {
    if (this.#reason === undefined && this.#hasFinalCount && this.#hasSpoken) this.#finish('stop', parts);
    // Some compatible servers close without `[DONE]`. With finish reason and usage, nothing is missing.
    if (this.#reason === undefined || (this.#options.usage && !this.#counted)) {
      throw new ProviderError('failed', 'the stream ended before the answer was complete');
    }
    parts.push(finishPart(this.#reason, this.#model));
  }

  #choice(choice: Choice, parts: ModelPart[]): void {
    const delta = choice.delta;
    if (delta !== undefined && delta !== null) {
      if (delta.content) this.#content(delta.content, parts);
      // A refusal is shown as text.
      if (delta.refusal) this.#text(delta.refusal, parts);
      if (delta.reasoning_content) this.#think(delta.reasoning_content, 'reasoning_content', parts);
      else if (delta.reasoning) this.#think(delta.reasoning, 'reasoning', parts);
      if (delta.tool_calls) for (const call of delta.tool_calls) this.#toolCall(call, parts);
    }
    if (choice.finish_reason && this.#reason === undefined) this.#finish(choice.finish_reason, parts);
  }

  #content(content: unknown, parts: ModelPart[]): void {
    if (typeof content === 'string') {
      this.#text(content, parts);
      return;
    }
    const { text, thinking } = readContentList(content);
    if (thinking !== '') this.#think(thinking, 'content', parts);
    if (text !== '') this.#text(text, parts);
  }

  #text(text: string, parts: ModelPart[]): void {
    if (typeof text !== 'string') throw new ProviderError('malformed_answer', 'sent text that is no string');
    this.#hasSpoken = true;
    parts.push({ type: 'text', text });
  }

  #think(text: string, field: ReasoningField, parts: ModelPart[]): void {
    if (typeof text !== 'string')
      throw new ProviderError('malformed_answer', 'sent reasoning that is no string');
    this.#hasSpoken = true;
    this.#reasoning += text;
    this.#reasoningField = field;
    checkGathered(this.#reasoning.length);
    parts.push({ type: 'thinking_delta', text });
  }

  #toolCall(delta: ToolCallDelta, parts: ModelPart[]): void {
    const index = delta.index ?? this.#indexOf(delta.id);
    if (index > 1000) throw new ProviderError('malformed_answer', 'more than 1000 tool calls');
    let call = this.#calls[index];
    if (call === undefined) {
      call = { id: '', name: '', arguments: '', index: undefined };
      this.#calls[index] = call;
    }
    this.#hasSpoken = true;
    // An id that comes after the name was reported would differ from the reported one.
    if (delta.id && call.index === undefined) call.id = delta.id;
    if (delta.function?.name) call.name = delta.function.name;
    const sent = delta.function?.arguments ?? '';
    // Some compatible servers send the arguments as an object.
    const piece = typeof sent === 'string' ? sent : JSON.stringify(sent);
    call.arguments = typeof sent === 'string' ? call.arguments + piece : piece;
    checkGathered(call.arguments.length);
    this.#tellProgress(call, piece, parts);
  }

  /** Reports a call once its name is known, with the arguments received until then. */
  #tellProgress(call: ToolCall, piece: string, parts: ModelPart[]): void {
    if (call.index !== undefined) {
      if (piece !== '') parts.push({ type: 'tool_use_delta', index: call.index, arguments: piece });
    } else if (call.name !== '') {
      call.index = this.#callCount;
      this.#callCount += 1;
      call.id ||= `call_${call.index}`;
      parts.push({
        type: 'tool_use_delta',
        index: call.index,
        id: call.id,
        name: call.name,
        arguments: call.arguments,
      });
    }
  }

  /** Some compatible servers send no index: a new id starts a call, a missing id continues the last one. */
  #indexOf(id: string | null | undefined): number {
    if (!id) return Math.max(0, this.#calls.length - 1);
    const known = this.#calls.findIndex((call) => call?.id === id);
    return known === -1 ? this.#calls.length : known;
  }

  #finish(word: string, parts: ModelPart[]): void {
    let reason = reasons[word] ?? 'other';
    if (this.#reasoning !== '') {
      const field = this.#reasoningField;
      const block = { type: 'reasoning_content', text: this.#reasoning };
      parts.push({ type: 'thinking', block: field === 'reasoning_content' ? block : { ...block, field } });
    }
    const calls = this.#calls.filter((call) => call !== undefined);
    for (const [place, call] of calls.entries()) {
      const text = call.arguments.trim() === '' ? '{}' : call.arguments;
      if (call.name === '' || !isJsonObject(text)) {
        // The last call of a truncated answer is incomplete and cannot be run.
        if (reason === 'max_tokens' && place === calls.length - 1) continue;
        throw new ProviderError(
          'malformed_answer',
          'a tool call without a name, or with arguments that are no JSON object',
        );
      }
      if (call.arguments === '') this.#tellProgress(call, text, parts);
      parts.push({ type: 'tool_use', id: call.id, name: call.name, arguments: text });
    }
    // Some compatible servers say `stop` after a call.
    if (calls.length > 0 && reason === 'stop') reason = 'tool_use';
    this.#reason = reason;
  }
}

/** The text of an event that contains only text. */
function plainText({ choices, usage, x_groq }: CompletionChunk): string | undefined {
  const choice = choices?.[0];
  if (choice?.finish_reason || choice?.usage || usage || x_groq) return undefined;
  const { content, refusal, reasoning, reasoning_content: thought, tool_calls: calls } = choice?.delta ?? {};
  const isPlain = typeof content === 'string' && content !== '';
  return isPlain && !refusal && !reasoning && !thought && !calls ? content : undefined;
}
