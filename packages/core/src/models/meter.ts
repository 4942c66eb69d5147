import type { Prices } from '../credits/pricing.ts';
import { type CallEnd, type MeteredCall, meterCall, meterLeftCall } from '../credits/usage.ts';
import type { Clock } from '../ports/clock.ts';
import type { Usage } from '../ports/ledger.ts';
import type { AnswerPart, FinishReason } from '../ports/models.ts';
import { countCharacters } from '../shared/characters.ts';
import type { TextCallBasis } from './text-call.ts';

/** Measures a text model call, to compute its charge for every kind of end. */
export interface Meter {
  /** Called before each attempt; restarts the time. */
  ask(): void;
  /** Called when the provider accepts the call. From now on the input is charged if the client disconnects. */
  accept(): void;
  record(part: AnswerPart): void;
  /** True after the first output. */
  readonly produced: boolean;
  /** Code points of the visible answer. */
  readonly spoken: number;
  readonly finishReason: FinishReason | undefined;
  /** True if the answer is complete and the usage report is missing. */
  readonly awaitsReport: boolean;
  /** Whether a call with this end is charged. */
  isDue(end: CallEnd): boolean;
  /** Computes the charge of a call with this end, at the prices of its acceptance. */
  read(end: CallEnd): MeteredCall;
}

/** Prices of free calls. */
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

export interface MeterOptions {
  readonly basis: TextCallBasis;
  readonly isMetered: boolean;
  /** Whole micro-credits. */
  readonly reserved: number;
  readonly clock: Clock;
  /** Code points that another meter has counted for the same call. */
  readonly spoken?: number;
}

export function createMeter(options: MeterOptions): Meter {
  return new CallMeter(options);
}

/** A class, because V8 creates it faster than an object literal with getters, and every call needs one. */
class CallMeter implements Meter {
  readonly #options: MeterOptions;
  #spoken: number;
  #charactersSent: number;
  /** Characters of incomplete tool calls. */
  #argumentCharacters = 0;
  #usage: Usage | undefined;
  #finishReason: FinishReason | undefined;
  #askedAt = 0;
  #finishedAt = 0;
  #charactersReported = 0;
  #isReportFinal = false;
  #isAccepted = false;

  constructor(options: MeterOptions) {
    this.#options = options;
    this.#spoken = options.spoken ?? 0;
    this.#charactersSent = this.#spoken;
  }

  ask(): void {
    this.#askedAt = this.#options.clock.now();
    this.#isAccepted = false;
  }

  accept(): void {
    this.#isAccepted = true;
  }

  record(part: AnswerPart): void {
    switch (part.type) {
      case 'text': {
        const characters = countCharacters(part.text);
        this.#add(characters);
        this.#spoken += characters;
        break;
      }
      case 'thinking_delta':
        this.#add(countCharacters(part.text));
        break;
      case 'tool_use_delta': {
        const characters = countCharacters(part.name ?? '') + countCharacters(part.arguments);
        this.#argumentCharacters += characters;
        this.#add(characters);
        break;
      }
      case 'tool_use': {
        // The deltas are already counted.
        const characters = countCharacters(part.name) + countCharacters(part.arguments);
        const known = Math.min(characters, this.#argumentCharacters);
        this.#argumentCharacters -= known;
        this.#add(characters - known);
        break;
      }
      case 'usage':
        this.#usage = part.usage;
        this.#charactersReported = this.#charactersSent;
        this.#isReportFinal = true;
        break;
      case 'finish':
        this.#finishReason = part.reason;
        this.#finishedAt = this.#options.clock.now();
        break;
      case 'thinking':
      case 'server_tool_call':
      case 'server_tool_result':
      case 'server_tool_approval':
      case 'server_tool_list':
        break;
    }
  }

  #add(characters: number): void {
    if (characters === 0) return;
    this.#charactersSent += characters;
    this.#isReportFinal = false;
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

  get awaitsReport(): boolean {
    return this.#finishReason !== undefined && !this.#isReportFinal;
  }

  isDue(end: CallEnd): boolean {
    return end === 'finished' || this.produced || (end === 'left' && this.#isAccepted);
  }

  read(end: CallEnd): MeteredCall {
    const { basis, isMetered, reserved } = this.#options;
    const { prompt, contextWindow, maxTokens } = basis;
    const prices = isMetered ? (basis.prices ?? FREE) : FREE;
    const known = {
      prompt,
      charactersSent: this.#charactersSent,
      usage: this.#usage,
      contextWindow,
      maxTokens,
    };
    if (end !== 'left') return meterCall(prices, reserved, { ...known, finished: end === 'finished' });
    return meterLeftCall(prices, reserved, {
      ...known,
      isReportFinal: this.#isReportFinal && this.#finishReason !== undefined,
      charactersReported: this.#charactersReported,
      unseen: this.#countUnseen(),
    });
  }

  /** A complete answer has no unseen output. */
  #countUnseen(): number {
    const { unseenPerSecond } = this.#options.basis;
    if (unseenPerSecond === undefined) return 0;
    const end = this.#finishReason === undefined ? this.#options.clock.now() : this.#finishedAt;
    return Math.floor((Math.max(0, end - this.#askedAt) / 1000) * unseenPerSecond);
  }
}
