import type {
  LanguageModelV2FinishReason,
  LanguageModelV2Usage,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { type FinishReason, type ModelPart, ProviderError } from '@questline/core/ports';
import {
  getDigest,
  type LayoutBlock,
  type LayoutItem,
  type Metadata,
  type ReasoningBlock,
} from './blocks.ts';
import { toUsage } from './usage.ts';

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** Stream parts of all supported versions: those of version 4, with two parts as older versions spell them. */
export type StreamPart =
  | Exclude<LanguageModelV4StreamPart, Finish>
  | (Omit<Finish, 'usage' | 'finishReason'> & {
      readonly usage: LanguageModelV4Usage | LanguageModelV2Usage;
      readonly finishReason: LanguageModelV4FinishReason | LanguageModelV2FinishReason;
    });

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'content_filter',
};

/** Finish reasons of Gemini for a failed answer and for an invalid function call. */
const malformed: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
]);

/** Collects one answer from stream parts. */
export class AnswerReader {
  readonly #vendor: string;
  readonly #blocks = new Map<string, { text: string; metadata: Metadata | undefined }>();
  readonly #layout: LayoutItem[] = [];
  #text = '';
  #textMetadata: Metadata | undefined;
  /** Index of each tool call in the answer, by call id. */
  readonly #inputs = new Map<string, number>();
  #brokenCall = false;
  #hasCalls = false;
  #finished = false;
  #model: string | undefined;

  /** @param vendor the model's `provider`. */
  constructor(vendor: string) {
    this.#vendor = vendor;
  }

  /**
   * Adds the content of one stream part to `parts`.
   * @throws the error that the stream reports, unchanged.
   */
  read(part: StreamPart, parts: ModelPart[]): void {
    if (this.#finished) return;
    switch (part.type) {
      case 'text-start':
        this.#textMetadata = part.providerMetadata;
        this.#layout.push({ type: 'text', length: 0 });
        break;
      case 'text-delta':
        this.#textMetadata = part.providerMetadata ?? this.#textMetadata;
        this.#addText(part.delta, parts);
        break;
      case 'text-end':
        this.#endText(part.providerMetadata ?? this.#textMetadata);
        break;
      case 'reasoning-start':
        this.#blocks.set(part.id, { text: '', metadata: part.providerMetadata });
        break;
      case 'reasoning-delta':
        this.#addReasoning(part, parts);
        break;
      case 'reasoning-end':
        this.#endReasoning(part.id, part.providerMetadata, parts);
        break;
      case 'tool-input-start':
        if (part.providerExecuted !== true) this.#openCall(part.id, part.toolName, '', parts);
        break;
      case 'tool-input-delta':
        this.#addToCall(part.id, part.delta, parts);
        break;
      case 'tool-call':
        this.#toolCall(part, parts);
        break;
      case 'finish':
        this.#finish(part, parts);
        break;
      case 'response-metadata':
        this.#model = part.modelId || undefined;
        break;
      case 'error':
        throw part.error;
      default:
        // Ignored: sources, files and pings.
        break;
    }
  }

  /** Call this after the last stream part. */
  end(): void {
    if (!this.#finished) throw new ProviderError('failed', 'the stream ended before the answer was complete');
  }

  #addText(delta: string, parts: ModelPart[]): void {
    if (delta === '') return;
    this.#text += delta;
    const last = this.#layout.at(-1);
    if (last?.type === 'text') {
      this.#layout[this.#layout.length - 1] = { ...last, length: last.length + delta.length };
    } else {
      this.#layout.push({ type: 'text', length: delta.length });
    }
    parts.push({ type: 'text', text: delta });
  }

  #endText(providerMetadata: Metadata | undefined): void {
    const last = this.#layout.at(-1);
    if (last?.type === 'text' && providerMetadata !== undefined) {
      this.#layout[this.#layout.length - 1] = { ...last, providerMetadata };
    }
    this.#textMetadata = undefined;
  }

  #addReasoning(part: Extract<StreamPart, { type: 'reasoning-delta' }>, parts: ModelPart[]): void {
    const block = this.#blocks.get(part.id) ?? { text: '', metadata: undefined };
    this.#blocks.set(part.id, block);
    block.text += part.delta;
    // A signature comes with a delta without text. Later metadata replaces earlier metadata, as vendors expect.
    block.metadata = part.providerMetadata ?? block.metadata;
    if (part.delta !== '') parts.push({ type: 'thinking_delta', text: part.delta });
  }

  #endReasoning(id: string, metadata: Metadata | undefined, parts: ModelPart[]): void {
    const open = this.#blocks.get(id);
    if (open === undefined) return;
    this.#blocks.delete(id);
    const providerMetadata = metadata ?? open.metadata;
    if (open.text === '' && providerMetadata === undefined) return;
    const block: ReasoningBlock = {
      type: 'thinking',
      thinking: open.text,
      vendor: this.#vendor,
      ...(providerMetadata !== undefined && { providerMetadata }),
    };
    this.#layout.push({ type: 'thinking' });
    parts.push({ type: 'thinking', block });
  }

  #openCall(id: string, name: string, json: string, parts: ModelPart[]): void {
    const index = this.#inputs.size;
    this.#inputs.set(id, index);
    parts.push({ type: 'tool_use_delta', index, id, name, arguments: json });
  }

  #addToCall(id: string, delta: string, parts: ModelPart[]): void {
    const index = this.#inputs.get(id);
    if (index === undefined || delta === '') return;
    parts.push({ type: 'tool_use_delta', index, arguments: delta });
  }

  #toolCall(part: Extract<StreamPart, { type: 'tool-call' }>, parts: ModelPart[]): void {
    // The vendor runs this tool; its result is part of the answer.
    if (part.providerExecuted === true) return;
    const json = part.input.trim() === '' ? '{}' : part.input;
    if (!isJsonObject(json)) {
      this.#brokenCall = true;
      return;
    }
    const { toolCallId: id, toolName: name, providerMetadata } = part;
    // Some vendors send a tool call only when it is complete.
    if (!this.#inputs.has(id)) this.#openCall(id, name, json, parts);
    this.#hasCalls = true;
    this.#layout.push({ type: 'tool_use', id, ...(providerMetadata !== undefined && { providerMetadata }) });
    parts.push({ type: 'tool_use', id, name, arguments: json });
  }

  #finish(part: Extract<StreamPart, { type: 'finish' }>, parts: ModelPart[]): void {
    for (const id of [...this.#blocks.keys()]) this.#endReasoning(id, undefined, parts);
    const layout = this.#layout.filter((item) => item.type !== 'text' || item.length > 0);
    if (layout.some((item) => item.type !== 'thinking' && item.providerMetadata !== undefined)) {
      const digest = getDigest(this.#text);
      const block: LayoutBlock = { type: 'redacted_thinking', vendor: this.#vendor, digest, layout };
      parts.push({ type: 'thinking', block });
    }
    const usage = toUsage(part.usage, this.#vendor, part.providerMetadata);
    if (usage !== undefined) parts.push({ type: 'usage', usage });
    const { finishReason } = part;
    const word = typeof finishReason === 'string' ? finishReason : finishReason.unified;
    const raw = typeof finishReason === 'string' ? undefined : finishReason.raw;
    if (raw !== undefined && malformed.has(raw)) {
      throw new ProviderError('malformed_answer', `the model ended with ${raw}`, { code: raw });
    }
    if (word === 'error' || word === 'interrupted') {
      throw new ProviderError('failed', `the model stopped because of an error (${word})`);
    }
    // The last call of a truncated answer is incomplete and cannot be run; the finish reason says so.
    if (this.#brokenCall && word !== 'length') {
      throw new ProviderError('malformed_answer', 'a tool call with arguments that are no JSON object');
    }
    const reason = reasons[word] ?? 'other';
    this.#finished = true;
    parts.push({
      type: 'finish',
      reason: reason === 'stop' && this.#hasCalls ? 'tool_use' : reason,
      ...(this.#model !== undefined && { model: this.#model }),
    });
  }
}

function isJsonObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
