import { toCredits, toUsd } from '../../credits/amounts.ts';
import { wireUsage } from '../../credits/wire-usage.ts';
import { DONE, frame, KEEP_ALIVE } from '../../http/sse.ts';
import type { ModelPart, ThinkingBlock } from '../../ports/models.ts';
import { type ApiError, isCreditCode } from '../../shared/errors.ts';
import type { CompletionEncoder, CompletionEnd } from './encoder.ts';
import { toWireThinking } from './thinking.ts';

export interface EventEncoderOptions {
  readonly requestId: string;
  /** Facts for a `meta` event before the answer; undefined omits the event. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  readonly creditsPerUsd: number;
}

/** Writes an answer as the events of `POST /api/ai/v1/completions`. A class, because its methods run once per part. */
export class EventEncoder implements CompletionEncoder {
  readonly head: string;
  readonly #options: EventEncoderOptions;
  readonly #tools: { name: string; arguments: string; id: string }[] = [];
  #thinking: ThinkingBlock[] = [];
  #text = '';

  constructor(options: EventEncoderOptions) {
    const { meta } = options;
    this.#options = options;
    this.head = meta === undefined ? KEEP_ALIVE : KEEP_ALIVE + frame({ type: 'meta', ...meta });
  }

  add(part: ModelPart): void {
    if (part.type === 'text') this.#text += part.text;
    else if (part.type === 'thinking') this.#thinking.push(toWireThinking(part.block));
    else if (part.type === 'tool_use') {
      // All tool calls of a turn are sent in one event, at its end.
      this.#tools.push({ name: part.name, arguments: part.arguments, id: part.id });
    }
  }

  /** Sends text that arrived together as one frame. */
  flush(): string {
    if (this.#text === '') return '';
    const text = this.#text;
    this.#text = '';
    return frame({ type: 'content', text, ...this.#takeThinking() });
  }

  end(end: CompletionEnd): string {
    const { finishReason } = end;
    const event = {
      text: '',
      ...(this.#tools.length > 0 && { tools: this.#tools }),
      ...this.#takeThinking(),
      ...this.#describeCost(end),
      ...(end.cost !== undefined && finishReason !== undefined && { stopReason: finishReason }),
    };
    return frame({ type: this.#tools.length > 0 ? 'tool_use' : 'content', ...event }) + DONE;
  }

  fail({ message, code, extra }: ApiError, end: CompletionEnd): string {
    const event = {
      message,
      requestId: this.#options.requestId,
      ...(isCreditCode(code) && { code }),
      ...extra,
      ...this.#describeCost(end),
    };
    return frame({ type: 'error', ...event }) + DONE;
  }

  #takeThinking(): { thinking?: ThinkingBlock[] } {
    if (this.#thinking.length === 0) return {};
    const thinking = this.#thinking;
    this.#thinking = [];
    return { thinking };
  }

  #describeCost({ cost, isMetered }: CompletionEnd): Readonly<Record<string, unknown>> {
    if (cost === undefined) return {};
    const { charged, usage } = cost;
    const { creditsPerUsd } = this.#options;
    return {
      usage: wireUsage(usage),
      ...(isMetered && { credits: { used: toCredits(charged), usdCost: toUsd(charged, creditsPerUsd) } }),
    };
  }
}
