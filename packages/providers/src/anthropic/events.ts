import { type FinishReason, type ModelPart, ProviderError, type Usage } from '@questline/core/ports';
import { text as getText } from '../content/fields.ts';
import { finishPart } from '../content/finish.ts';
import { TextTemplate } from '../content/text-template.ts';
import { checkGathered, isJsonObject } from '../content/tool-arguments.ts';
import type { EventDecoder } from '../http/event-stream.ts';
import type { Faults } from '../http/faults.ts';

interface MessageUsage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_input_tokens?: number | null;
  readonly cache_creation_input_tokens?: number | null;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null;
}

interface ContentBlock {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly text?: string;
  readonly data?: string;
  readonly input?: unknown;
}

interface BlockDelta {
  readonly type: string;
  readonly text?: string;
  readonly partial_json?: string;
  readonly thinking?: string;
  readonly signature?: string;
}

interface MessageEvent {
  readonly type: string;
  readonly index?: number;
  readonly message?: { readonly usage?: MessageUsage; readonly model?: unknown };
  readonly content_block?: ContentBlock;
  readonly delta?: BlockDelta & {
    readonly stop_reason?: string | null;
    readonly stop_sequence?: unknown;
  };
  readonly usage?: MessageUsage;
}

interface OpenBlock {
  readonly start: ContentBlock;
  /** The index of the tool call in the answer, from 0. */
  readonly call: number;
  /** Arguments, or a thought. */
  text: string;
  signature: string;
}

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  tool_use: 'tool_use',
  refusal: 'content_filter',
};

/** Reads the events of the messages protocol. */
export class MessageDecoder implements EventDecoder {
  readonly #faults: Faults;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #template = new TextTemplate('text');
  #usage: MessageUsage = {};
  #model: string | undefined;
  #reason: FinishReason | undefined;
  #stopSequence: string | undefined;
  #brokenCall = false;
  #calls = 0;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  event(data: string, parts: ModelPart[]): boolean {
    const text = this.#template.read(data);
    if (text !== undefined) {
      parts.push({ type: 'text', text });
      return false;
    }
    const event = JSON.parse(data) as MessageEvent;
    const plain = plainText(event);
    if (plain !== undefined) this.#template.learn(data, plain);
    switch (event.type) {
      case 'content_block_delta':
        this.#delta(event, parts);
        return false;
      case 'content_block_start':
        this.#start(event, parts);
        return false;
      case 'content_block_stop':
        this.#stop(event.index ?? 0, parts);
        return false;
      case 'message_start':
        this.#model = getText(event.message?.model);
        this.#count(event.message?.usage, parts);
        return false;
      case 'message_delta':
        this.#count(event.usage, parts);
        if (event.delta?.stop_reason) this.#reason = reasons[event.delta.stop_reason] ?? 'other';
        this.#stopSequence = getText(event.delta?.stop_sequence) ?? this.#stopSequence;
        return false;
      case 'message_stop':
        this.#finish(parts);
        return true;
      case 'error':
        throw this.#faults.event(event);
      default:
        // Pings and unknown event types.
        return false;
    }
  }

  end(parts: ModelPart[]): void {
    // One event has the finish reason and the final usage: without it the answer is incomplete.
    this.#finish(parts);
  }

  #start({ index = 0, content_block: start }: MessageEvent, parts: ModelPart[]): void {
    if (start === undefined) return;
    this.#blocks.set(index, { start, call: this.#calls, text: '', signature: '' });
    if (start.type === 'text' && start.text) parts.push({ type: 'text', text: start.text });
    if (start.type === 'tool_use') {
      const { id = '', name = '' } = start;
      parts.push({ type: 'tool_use_delta', index: this.#calls, id, name, arguments: '' });
      this.#calls += 1;
    }
  }

  #delta({ index = 0, delta }: MessageEvent, parts: ModelPart[]): void {
    if (delta === undefined) return;
    if (delta.type === 'text_delta') {
      if (delta.text) parts.push({ type: 'text', text: delta.text });
      return;
    }
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    if (delta.type === 'input_json_delta') {
      const piece = delta.partial_json ?? '';
      block.text += piece;
      if (piece !== '' && block.start.type === 'tool_use') {
        parts.push({ type: 'tool_use_delta', index: block.call, arguments: piece });
      }
    } else if (delta.type === 'thinking_delta' && delta.thinking) {
      block.text += delta.thinking;
      parts.push({ type: 'thinking_delta', text: delta.thinking });
    } else if (delta.type === 'signature_delta') {
      block.signature += delta.signature ?? '';
    }
    checkGathered(block.text.length + block.signature.length);
  }

  #stop(index: number, parts: ModelPart[]): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (block === undefined) return;
    const { start, text, signature } = block;
    if (start.type === 'thinking') {
      parts.push({ type: 'thinking', block: { type: 'thinking', thinking: text, signature } });
    } else if (start.type === 'redacted_thinking') {
      parts.push({ type: 'thinking', block: { type: 'redacted_thinking', data: start.data } });
    } else if (start.type === 'tool_use') {
      this.#call(start, text, parts);
    }
  }

  #call({ id = '', name = '', input }: ContentBlock, text: string, parts: ModelPart[]): void {
    // Without deltas, the start event has the whole call, usually with empty arguments.
    const args = text === '' ? JSON.stringify(input ?? {}) : text;
    if (name === '' || !isJsonObject(args)) this.#brokenCall = true;
    else parts.push({ type: 'tool_use', id, name, arguments: args });
  }

  /** Counts are cumulative; an event may omit unchanged ones, or have them as null. */
  #count(usage: MessageUsage | undefined, parts: ModelPart[]): void {
    if (usage === undefined) return;
    const counts = Object.entries(usage).filter(([, count]) => count !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) };
    parts.push({ type: 'usage', usage: splitUsage(this.#usage) });
  }

  #finish(parts: ModelPart[]): void {
    if (this.#reason === undefined) {
      throw new ProviderError('failed', 'the stream ended before the answer was complete');
    }
    // A truncated answer may end in an incomplete call, which cannot be run; the finish reason says so.
    if (this.#brokenCall && this.#reason !== 'max_tokens') {
      throw new ProviderError(
        'malformed_answer',
        'a tool call without a name, or with arguments that are no JSON object',
      );
    }
    parts.push(finishPart(this.#reason, this.#model, this.#stopSequence));
  }
}

/** The input excludes cache reads and writes; the output includes the thinking. */
function splitUsage(usage: MessageUsage): Usage {
  const reasoning = usage.output_tokens_details?.thinking_tokens ?? 0;
  return {
    input: usage.input_tokens ?? 0,
    output: Math.max(0, (usage.output_tokens ?? 0) - reasoning),
    cachedInput: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
    reasoning,
  };
}

/** The text of an event that contains only a text delta. */
function plainText({ type, delta }: MessageEvent): string | undefined {
  return type === 'content_block_delta' && delta?.type === 'text_delta' && delta.text
    ? delta.text
    : undefined;
}
