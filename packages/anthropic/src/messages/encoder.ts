import type { ApiError } from '@questline/core';
import {
  type CompletionEncoder,
  type CompletionEnd,
  KEEP_ALIVE,
  toWireCredits,
} from '@questline/core/internal';
import type { ModelPart, Usage } from '@questline/core/ports';
import { toErrorBody } from '../errors.ts';
import { countUsage, toMessageUsage, toWireUsage } from '../usage.ts';
import { BlockWriter } from './blocks.ts';
import type { BlockDelta, ContentBlock } from './wire.ts';
import { emptyMessage } from './wire.ts';

export interface MessageEncoderOptions {
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  readonly creditsPerUsd: number;
  /** Estimates the input tokens, for `message_start` of a provider that reports its usage at the end. */
  estimateInput(): number;
}

const PING = event({ type: 'ping' });
const STOP = event({ type: 'message_stop' });

/** Writes an answer as the events of the messages API. A class, because its methods run once per part. */
export class MessageEncoder implements CompletionEncoder {
  /** `message_start` waits for the first part: it has the tokens that the provider reports first. */
  readonly head = KEEP_ALIVE;
  readonly #options: MessageEncoderOptions;
  readonly #blocks: BlockWriter;
  #usage: Usage | undefined;
  #hasStarted = false;
  #frames = '';

  constructor(options: MessageEncoderOptions) {
    this.#options = options;
    this.#blocks = new BlockWriter({
      start: (index, block) => this.#start(index, block),
      delta: (index, delta) => this.#delta(index, delta),
      stop: (index) => {
        this.#frames += event({ type: 'content_block_stop', index });
      },
    });
  }

  add(part: ModelPart): void {
    if (part.type === 'usage') this.#usage = part.usage;
    else this.#blocks.add(part);
  }

  flush(): string {
    this.#blocks.flush();
    const frames = this.#frames;
    this.#frames = '';
    return frames;
  }

  keepAlive(): string {
    this.#open();
    return this.flush() + PING;
  }

  end(end: CompletionEnd): string {
    this.#open();
    this.#blocks.close();
    const credits = toWireCredits(end, this.#options.creditsPerUsd);
    this.#frames += event({
      type: 'message_delta',
      delta: { ...this.#blocks.describeStop(end.finishReason), container: null },
      usage: toWireUsage(end),
      ...(credits !== undefined && { credits }),
    });
    return this.flush() + STOP;
  }

  /** Without `message_stop`: the answer is not complete. */
  fail(error: ApiError): string {
    return event({ ...toErrorBody(error, this.#options.requestId) });
  }

  #open(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    const { id, model, estimateInput } = this.#options;
    const { output: _, reasoning: __, ...input } = this.#usage ?? { input: estimateInput() };
    const usage = toMessageUsage(countUsage(input));
    this.#frames += event({ type: 'message_start', message: emptyMessage({ id, model, usage }) }) + PING;
  }

  #start(index: number, block: ContentBlock): void {
    this.#open();
    this.#frames += event({ type: 'content_block_start', index, content_block: block });
  }

  #delta(index: number, delta: BlockDelta): void {
    this.#frames += event({ type: 'content_block_delta', index, delta });
  }
}

function event(data: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
