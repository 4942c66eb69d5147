import type { ApiError } from '@questline/core';
import {
  type CompletionEncoder,
  type CompletionEnd,
  DONE,
  frame,
  toWireCredits,
  toWireThinking,
} from '@questline/core/internal';
import type { ModelPart, ThinkingBlock } from '@questline/core/ports';
import { toWireError } from '../errors.ts';
import { toWireUsage } from '../usage.ts';
import { type ChatCompletionChunk, type ChunkDelta, toFinishReason, type WireFinishReason } from './wire.ts';

export interface ChunkEncoderOptions {
  readonly id: string;
  /** Epoch seconds. */
  readonly created: number;
  readonly model: string;
  /** `stream_options.include_usage`. */
  readonly includesUsage: boolean;
  readonly creditsPerUsd: number;
}

/**
 * Writes an answer as chunks of chat completions. A tool call is sent when it is complete: several clients run the call that
 * they have when a stream ends, even after an error. A class, because its methods run once per part.
 */
export class ChunkEncoder implements CompletionEncoder {
  readonly head: string;
  readonly #options: ChunkEncoderOptions;
  /** A chunk up to its delta: the same for every chunk of the answer. */
  readonly #start: string;
  readonly #rest: string;
  readonly #thinking: ThinkingBlock[] = [];
  #calls = 0;
  #text = '';
  #reasoning = '';
  #frames = '';

  constructor(options: ChunkEncoderOptions) {
    const { id, created, model, includesUsage } = options;
    this.#options = options;
    const about = JSON.stringify({ id, object: 'chat.completion.chunk', created, model });
    this.#start = `data: ${about.slice(0, -1)},"choices":[{"index":0,"delta":`;
    this.#rest = `,"logprobs":null,"finish_reason":null}]${includesUsage ? ',"usage":null' : ''}}\n\n`;
    this.head = this.#chunk({ role: 'assistant', content: '' });
  }

  add(part: ModelPart): void {
    switch (part.type) {
      case 'text':
        this.#text += part.text;
        break;
      case 'thinking_delta':
        if (this.#text !== '') this.#takeText();
        this.#reasoning += part.text;
        break;
      case 'thinking':
        this.#thinking.push(toWireThinking(part.block));
        break;
      case 'tool_use':
        this.#takeText();
        this.#addCall(part);
        break;
      case 'tool_use_delta':
      case 'usage':
      case 'finish':
        break;
    }
  }

  flush(): string {
    this.#takeText();
    const frames = this.#frames;
    this.#frames = '';
    return frames;
  }

  end(end: CompletionEnd): string {
    const { includesUsage, creditsPerUsd } = this.#options;
    if (this.#thinking.length > 0) this.#frames += this.#chunk({ reasoning_details: this.#thinking });
    const frames = this.flush() + this.#last(toFinishReason(end.finishReason, this.#calls > 0));
    if (!includesUsage) return frames + DONE;
    const credits = toWireCredits(end, creditsPerUsd);
    const usage = { ...this.#about(), choices: [], usage: toWireUsage(end), ...(credits && { credits }) };
    return frames + frame(usage) + DONE;
  }

  /** Without `[DONE]`: the answer is not complete. */
  fail(error: ApiError): string {
    return frame({ error: toWireError(error) });
  }

  #addCall({ id, name, arguments: text }: Extract<ModelPart, { type: 'tool_use' }>): void {
    const index = this.#calls;
    this.#calls += 1;
    const call = { index, id, type: 'function' as const, function: { name, arguments: text } };
    this.#frames += this.#chunk({ tool_calls: [call] });
  }

  #takeText(): void {
    if (this.#reasoning !== '') this.#frames += this.#chunk({ reasoning_content: this.#reasoning });
    if (this.#text !== '') this.#frames += this.#chunk({ content: this.#text });
    this.#reasoning = '';
    this.#text = '';
  }

  #chunk(delta: ChunkDelta): string {
    return this.#start + JSON.stringify(delta) + this.#rest;
  }

  #last(finish_reason: WireFinishReason): string {
    const { includesUsage } = this.#options;
    const chunk: ChatCompletionChunk = {
      ...this.#about(),
      choices: [{ index: 0, delta: {}, logprobs: null, finish_reason }],
      ...(includesUsage && { usage: null }),
    };
    return frame({ ...chunk });
  }

  #about(): Pick<ChatCompletionChunk, 'id' | 'object' | 'created' | 'model'> {
    const { id, created, model } = this.#options;
    return { id, object: 'chat.completion.chunk', created, model };
  }
}
