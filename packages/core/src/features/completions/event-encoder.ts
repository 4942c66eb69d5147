import { toCredits, toUsd } from '../../credits/amounts.ts';
import { type WireUsage, wireUsage } from '../../credits/wire-usage.ts';
import { DONE, frame, KEEP_ALIVE } from '../../http/sse.ts';
import type { ModelPart, ThinkingBlock } from '../../ports/models.ts';
import { type ApiError, isCreditCode } from '../../shared/errors.ts';
import type { CompletionEncoder, CompletionEnd } from './encoder.ts';
import { toWireThinking } from './thinking.ts';

export interface EventEncoderOptions {
  readonly requestId: string;
  /** Facts for a `meta` event before the answer; undefined omits the event. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** Whether reasoning and tool calls are sent as they arrive, too. */
  readonly deltas: boolean;
  readonly creditsPerUsd: number;
}

/** Filled field by field, in the order on the wire: spreading one object after other fields takes five times as long. */
type Event = Record<string, unknown>;

/** Writes an answer as the events of `POST /api/ai/v1/completions`. A class, because its methods run once per part. */
export class EventEncoder implements CompletionEncoder {
  readonly head: string;
  readonly #options: EventEncoderOptions;
  readonly #tools: { name: string; arguments: string; id: string }[] = [];
  #thinking: ThinkingBlock[] = [];
  #text = '';
  /** The frames before the text. */
  #frames = '';

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
    } else if (this.#options.deltas) this.#addDelta(part);
  }

  #addDelta(part: ModelPart): void {
    if (part.type === 'thinking_delta') {
      if (part.text !== '') this.#frames += this.#takeText() + frame({ type: 'reasoning', text: part.text });
    } else if (part.type === 'tool_use_delta') {
      this.#frames += this.#takeText() + frame({ ...part });
    }
  }

  /** Sends text that arrived together as one frame. */
  flush(): string {
    const text = this.#takeText();
    if (this.#frames === '') return text;
    const frames = this.#frames + text;
    this.#frames = '';
    return frames;
  }

  #takeText(): string {
    if (this.#text === '') return '';
    const text = this.#text;
    this.#text = '';
    const event: Event = { type: 'content', text };
    this.#addThinking(event);
    return frame(event);
  }

  end(end: CompletionEnd): string {
    const hasTools = this.#tools.length > 0;
    const event: Event = { type: hasTools ? 'tool_use' : 'content', text: '' };
    if (hasTools) event.tools = this.#tools;
    this.#addThinking(event);
    Object.assign(event, describeCost(end, this.#options.creditsPerUsd));
    if (end.cost !== undefined) event.stopReason = end.finishReason;
    return frame(event) + DONE;
  }

  fail(error: ApiError, end: CompletionEnd): string {
    const event = {
      type: 'error',
      ...describeError(error),
      requestId: this.#options.requestId,
      ...error.extra,
      ...describeCost(end, this.#options.creditsPerUsd),
    };
    return frame(event) + DONE;
  }

  #addThinking(event: Event): void {
    if (this.#thinking.length === 0) return;
    event.thinking = this.#thinking;
    this.#thinking = [];
  }
}

/** The billed tokens and the charge, as clients receive them. */
export function describeCost(
  { cost, isMetered }: CompletionEnd,
  creditsPerUsd: number,
): { readonly usage?: WireUsage; readonly credits?: { readonly used: number; readonly usdCost: number } } {
  if (cost === undefined) return {};
  const { charged, usage } = cost;
  return {
    usage: wireUsage(usage),
    // Only what the ledger has confirmed: a settlement that is repeated later may be lost with this process.
    ...(isMetered &&
      charged !== undefined && {
        credits: { used: toCredits(charged), usdCost: toUsd(charged, creditsPerUsd) },
      }),
  };
}

/** The message of a failure, and its code if clients branch on it. */
export function describeError({ message, code }: ApiError): {
  readonly message: string;
  readonly code?: string;
} {
  return { message, ...(isCreditCode(code) && { code }) };
}
