import { countCharacters, type PromptSize } from '../credits/estimates.ts';
import type { Prices } from '../credits/pricing.ts';
import { type MeteredCall, meterCall } from '../credits/usage.ts';
import type { Usage } from '../ports/ledger.ts';
import type { FinishReason, ModelPart } from '../ports/models.ts';

/** Watches what a model says, to know what it cost however the call ends. */
export interface Meter {
  see(part: ModelPart): void;
  /** True once the model has produced something. */
  readonly produced: boolean;
  /** Code points of what it said aloud. */
  readonly spoken: number;
  readonly finishReason: FinishReason | undefined;
  /** What the call has cost, with the prices it was accepted under. `finished`: the model came to its own end. */
  read(finished: boolean): MeteredCall;
}

/** Of work that nobody pays for. */
export const FREE: Prices = {
  input: 0,
  output: 0,
  cachedInput: 0,
  cacheWrite: 0,
  reasoning: 0,
  image: 0,
  second: 0,
  thousandCharacters: 0,
  megabyte: 0,
};

export interface MeterTerms {
  /** Absent only while metering is off. */
  readonly prices: Prices | undefined;
  readonly reserved: number;
  readonly prompt: PromptSize;
  readonly contextWindow: number;
  readonly maxTokens: number;
  /** Code points that another meter has heard of the same call. */
  readonly spoken?: number;
}

export function createMeter(terms: MeterTerms): Meter {
  return new CallMeter(terms);
}

/** A class, because one is made for every call: a literal with getters takes V8 longer than all that it counts. */
class CallMeter implements Meter {
  readonly #terms: MeterTerms;
  #spoken: number;
  #charactersSent: number;
  #usage: Usage | undefined;
  #finishReason: FinishReason | undefined;

  constructor(terms: MeterTerms) {
    this.#terms = terms;
    this.#spoken = terms.spoken ?? 0;
    this.#charactersSent = this.#spoken;
  }

  see(part: ModelPart): void {
    switch (part.type) {
      case 'text': {
        const characters = countCharacters(part.text);
        this.#charactersSent += characters;
        this.#spoken += characters;
        break;
      }
      case 'thinking_delta':
        this.#charactersSent += countCharacters(part.text);
        break;
      case 'tool_use':
        this.#charactersSent += countCharacters(part.name) + countCharacters(part.arguments);
        break;
      case 'usage':
        this.#usage = part.usage;
        break;
      case 'finish':
        this.#finishReason = part.reason;
        break;
      case 'thinking':
        break;
    }
  }

  get produced(): boolean {
    return this.#charactersSent > 0;
  }

  get spoken(): number {
    return this.#spoken;
  }

  get finishReason(): FinishReason | undefined {
    return this.#finishReason;
  }

  read(finished: boolean): MeteredCall {
    const { prices, reserved, prompt, contextWindow, maxTokens } = this.#terms;
    return meterCall(prices ?? FREE, reserved, {
      prompt,
      charactersSent: this.#charactersSent,
      finished,
      usage: this.#usage,
      contextWindow,
      maxTokens,
    });
  }
}
