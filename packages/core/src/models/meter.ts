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

export function createMeter(terms: {
  /** Absent only while metering is off. */
  readonly prices: Prices | undefined;
  readonly reserved: number;
  readonly prompt: PromptSize;
  readonly contextWindow: number;
  readonly maxTokens: number;
  /** Code points that another meter has heard of the same call. */
  readonly spoken?: number;
}): Meter {
  let spoken = terms.spoken ?? 0;
  let charactersSent = spoken;
  let usage: Usage | undefined;
  let finishReason: FinishReason | undefined;
  return {
    see(part) {
      switch (part.type) {
        case 'text': {
          const characters = countCharacters(part.text);
          charactersSent += characters;
          spoken += characters;
          break;
        }
        case 'thinking_delta':
          charactersSent += countCharacters(part.text);
          break;
        case 'tool_use':
          charactersSent += countCharacters(part.name) + countCharacters(part.arguments);
          break;
        case 'usage':
          usage = part.usage;
          break;
        case 'finish':
          finishReason = part.reason;
          break;
        case 'thinking':
          break;
      }
    },
    get produced() {
      return charactersSent > 0;
    },
    get spoken() {
      return spoken;
    },
    get finishReason() {
      return finishReason;
    },
    read: (finished) =>
      meterCall(terms.prices ?? FREE, terms.reserved, {
        prompt: terms.prompt,
        charactersSent,
        finished,
        usage,
        contextWindow: terms.contextWindow,
        maxTokens: terms.maxTokens,
      }),
  };
}
