import { type FinishReason, type ModelPart, ProviderError } from '@questline/core/ports';
import { text as getText, record } from '../content/fields.ts';
import { finishPart } from '../content/finish.ts';
import { checkGathered, isJsonObject } from '../content/tool-arguments.ts';
import type { EventDecoder } from '../http/event-stream.ts';
import type { Faults } from '../http/faults.ts';
import { toThinkingBlock } from './reasoning.ts';
import { type ResponseUsage, splitResponseUsage } from './usage.ts';

/*
 * The events of the Responses API, by the types of the npm package `openai` 7.57.0 (November 2026):
 * https://developers.openai.com/api/reference/resources/responses/streaming-events
 */

interface Item {
  readonly type?: string;
  readonly call_id?: unknown;
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly content?: unknown;
}

interface ResponseEvent {
  readonly type: string;
  readonly output_index?: number;
  readonly summary_index?: number;
  readonly delta?: unknown;
  readonly item?: Item;
  readonly response?: {
    readonly model?: unknown;
    readonly usage?: ResponseUsage | null;
    readonly error?: unknown;
    readonly incomplete_details?: { readonly reason?: unknown } | null;
    readonly output?: readonly Item[] | null;
  };
  readonly error?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
}

const INCOMPLETE: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'max_tokens',
  content_filter: 'content_filter',
};

/** Reads the events of a streamed response. */
export class ResponseDecoder implements EventDecoder {
  readonly #provider: string;
  readonly #faults: Faults;
  /** From the output index of each open call to its index among the calls. */
  readonly #calls = new Map<number, { readonly index: number; gathered: number }>();
  /** Output indexes whose text arrived as deltas. */
  readonly #spoken = new Set<number>();
  #callCount = 0;
  #itemCount = 0;
  #model: string | undefined;
  #hasCalls = false;
  #hasBrokenCall = false;
  #hasRefusal = false;

  /** @param provider the provider id, stored with reasoning blocks. */
  constructor(provider: string, faults: Faults) {
    this.#provider = provider;
    this.#faults = faults;
  }

  event(data: string, parts: ModelPart[]): boolean {
    // Some compatible servers send this terminator after the protocol's final event.
    if (data === '[DONE]') return false;
    const event = JSON.parse(data) as ResponseEvent;
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.#hasRefusal ||= event.type === 'response.refusal.delta';
        this.#spoken.add(event.output_index ?? 0);
        say('text', event.delta, parts);
        return false;
      case 'response.reasoning_summary_part.added':
        if ((event.summary_index ?? 0) > 0) say('thinking_delta', '\n\n', parts);
        return false;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        say('thinking_delta', event.delta, parts);
        return false;
      case 'response.output_item.added':
        if (event.item?.type === 'function_call') this.#openCall(event.output_index ?? 0, event.item, parts);
        return false;
      case 'response.function_call_arguments.delta':
        this.#continueCall(event, parts);
        return false;
      case 'response.output_item.done':
        this.#close(event.output_index ?? 0, event.item ?? {}, parts);
        return false;
      case 'response.created':
        this.#model = getText(event.response?.model);
        return false;
      case 'response.completed':
      case 'response.incomplete':
        this.#finish(event, parts);
        return true;
      case 'response.failed':
        this.#count(event, parts);
        throw this.#faults.event({ error: event.response?.error ?? { message: 'the response failed' } });
      case 'error': {
        const { message, code, param } = event;
        throw this.#faults.event({ error: event.error ?? { message, code, param } });
      }
      default:
        if (event.error !== undefined && event.error !== null) throw this.#faults.event(event);
        // Progress, repeated complete items, and unknown event types.
        return false;
    }
  }

  end(): void {
    // The final event has usage and finish reason: without it the answer is incomplete.
    throw new ProviderError('failed', 'the stream ended before the answer was complete');
  }

  #openCall(place: number, item: Item, parts: ModelPart[]): void {
    const call = { index: this.#callCount, gathered: 0 };
    this.#callCount += 1;
    this.#calls.set(place, call);
    const id = getText(item.call_id) ?? '';
    const name = getText(item.name) ?? '';
    parts.push({ type: 'tool_use_delta', index: call.index, id, name, arguments: '' });
  }

  #continueCall({ output_index: place = 0, delta }: ResponseEvent, parts: ModelPart[]): void {
    const call = this.#calls.get(place);
    if (call === undefined || typeof delta !== 'string' || delta === '') return;
    call.gathered += delta.length;
    checkGathered(call.gathered);
    parts.push({ type: 'tool_use_delta', index: call.index, arguments: delta });
  }

  /** An item is complete. */
  #close(place: number, item: Item, parts: ModelPart[]): void {
    this.#itemCount += 1;
    if (item.type === 'reasoning') {
      parts.push({ type: 'thinking', block: toThinkingBlock(this.#provider, { ...item }) });
    } else if (item.type === 'message' && !this.#spoken.has(place)) {
      this.#sayWhole(item, parts);
    } else if (item.type === 'function_call') {
      if (!this.#calls.has(place)) this.#openCall(place, item, parts);
      this.#call(this.#calls.get(place), item, parts);
    }
  }

  #call(call: { index: number; gathered: number } | undefined, item: Item, parts: ModelPart[]): void {
    const written = getText(item.arguments)?.trim() ? String(item.arguments) : '{}';
    const name = getText(item.name);
    const id = getText(item.call_id);
    if (name === undefined || id === undefined || !isJsonObject(written)) {
      this.#hasBrokenCall = true;
      return;
    }
    checkGathered(written.length);
    this.#hasCalls = true;
    if (call?.gathered === 0) parts.push({ type: 'tool_use_delta', index: call.index, arguments: written });
    parts.push({ type: 'tool_use', id, name, arguments: written });
  }

  #sayWhole({ content }: Item, parts: ModelPart[]): void {
    for (const part of Array.isArray(content) ? content : []) {
      const { text, refusal } = record(part);
      this.#hasRefusal ||= getText(refusal) !== undefined;
      say('text', getText(text) ?? getText(refusal) ?? '', parts);
    }
  }

  #count({ response }: ResponseEvent, parts: ModelPart[]): void {
    const usage = response?.usage;
    if (usage !== undefined && usage !== null)
      parts.push({ type: 'usage', usage: splitResponseUsage(usage) });
  }

  #finish(event: ResponseEvent, parts: ModelPart[]): void {
    const { response } = event;
    // For servers that send no item events.
    if (this.#itemCount === 0) {
      for (const [place, item] of (response?.output ?? []).entries()) this.#close(place, item, parts);
    }
    this.#count(event, parts);
    const reason = this.#reason(event);
    // The last call of a truncated answer is incomplete and cannot be run.
    if (this.#hasBrokenCall && reason !== 'max_tokens') {
      throw new ProviderError(
        'malformed_answer',
        'a tool call without a name, or with arguments that are no JSON object',
      );
    }
    parts.push(finishPart(reason, getText(response?.model) ?? this.#model));
  }

  #reason({ type, response }: ResponseEvent): FinishReason {
    if (type === 'response.incomplete') {
      return INCOMPLETE[String(response?.incomplete_details?.reason)] ?? 'other';
    }
    if (this.#hasCalls) return 'tool_use';
    return this.#hasRefusal ? 'content_filter' : 'stop';
  }
}

function say(type: 'text' | 'thinking_delta', text: unknown, parts: ModelPart[]): void {
  if (typeof text !== 'string') {
    throw new ProviderError(
      'malformed_answer',
      `sent ${type === 'text' ? 'text' : 'reasoning'} that is no string`,
    );
  }
  if (text !== '') parts.push({ type, text });
}
