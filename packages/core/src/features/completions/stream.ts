import { KEEP_ALIVE } from '../../http/sse.ts';
import type { OpenStream } from '../../operations/open-streams.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AnswerChunk, AnswerPart } from '../../ports/models.ts';
import { ApiError } from '../../shared/errors.ts';
import type { StopSignal } from '../../shared/stop-signal.ts';
import { cancelIterator } from '../../shared/streams.ts';
import type { CompletionEncoder } from './encoder.ts';

/** Longest silence before a keep-alive comment, so that proxies do not close the connection of a thinking model. */
const MAX_SILENCE_MS = 10_000;

/** The answer that a stream sends, and the end of its money. */
export interface StreamSource {
  readonly chunks: AsyncIterator<AnswerChunk>;
  readonly clock: Clock;
  /** The caller's signal. */
  readonly signal: StopSignal;
  readonly encoder: Pick<CompletionEncoder, 'head' | 'keepAlive' | 'add' | 'flush'>;
  /** Receives every chunk of the model before it is sent. */
  see(part: AnswerPart): void;
  /** Whether the answer is complete while the provider's usage report is still pending. */
  awaitsReport(): boolean;
  /** Stops the provider after the client disconnected. @param readOn reads the rest of the report. Never rejects. */
  leave(readOn: () => Promise<void>): Promise<void>;
  /** Settles the money of a completed call, and returns its last frames. */
  finish(): Promise<string>;
  /** Settles the money of an interrupted call, and returns its last frames. Never rejects. */
  fail(error: unknown): Promise<string>;
  /** Runs once, at the end or when the reader stops. The reader sees the end after it. */
  finalize(stream: CompletionStream): Promise<void>;
}

type Step = IteratorResult<string, undefined>;

const FINISHED: Step = { done: true, value: undefined };

/**
 * The frames of one completion. Each provider step becomes one string, and so one write.
 * A class with a hand-written `next`, because this runs once per event of every stream.
 */
export class CompletionStream implements AsyncIterableIterator<string, undefined>, OpenStream {
  readonly #source: StreamSource;
  /** The first step of the provider, pending when the response head is sent. Undefined once it is read. */
  #first: Promise<IteratorResult<AnswerChunk>> | undefined;
  #opened = false;
  #ended = false;
  /** The last event is in preparation: further provider steps are ignored. */
  #concluding = false;
  /** A step of the provider is pending. */
  #pulling = false;
  #ready: string | undefined;
  #reader: ((step: Step | Promise<Step>) => void) | undefined;
  /** Time of the last write after the head. */
  #deliveredAt = 0;
  #cancelTimer: (() => void) | undefined;
  #leaving: Promise<void> | undefined;
  #finalized: Promise<Step> | undefined;
  /** Ends the reading after the client disconnected. */
  #reportHeard: (() => void) | undefined;

  /** @param first the first step of the source, which may be pending. */
  constructor(source: StreamSource, first: Promise<IteratorResult<AnswerChunk>>) {
    this.#source = source;
    this.#first = first;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (!this.#opened) {
      this.#open();
      return Promise.resolve({ done: false, value: this.#source.encoder.head });
    }
    if (this.#ready !== undefined) {
      const value = this.#ready;
      this.#ready = undefined;
      return Promise.resolve({ done: false, value });
    }
    if (this.#ended) return this.#finalize();
    return new Promise((resolve) => {
      this.#reader = resolve;
      if (!this.#pulling && !this.#concluding) this.#advance();
    });
  }

  return(): Promise<Step> {
    // The provider may be slow to stop; `finalize` waits for it.
    void this.leave();
    return this.#finalize();
  }

  /** Also for a reader that stops before its first read. */
  #finalize(): Promise<Step> {
    this.#finalized ??= this.#source.finalize(this).then(() => FINISHED);
    return this.#finalized;
  }

  /** Handles a disconnected client: resolves once the provider is stopped. No effect after the end. */
  leave(): Promise<void> {
    if (this.#ended && this.#leaving === undefined) return Promise.resolve();
    this.#leaving ??= this.#stopProvider();
    return this.#leaving;
  }

  async #stopProvider(): Promise<void> {
    const isConcluding = this.#concluding;
    this.#close();
    this.#reader?.(Promise.resolve().then(() => this.#finalize()));
    if (isConcluding) return;
    await this.#source.leave(() => this.#readOn());
    this.#reportHeard = undefined;
    cancelIterator(this.#source.chunks);
  }

  #readOn(): Promise<void> {
    return new Promise((resolve) => {
      this.#reportHeard = resolve;
      if (!this.#pulling) this.#advance();
    });
  }

  /** Output after the disconnect counts only for the bill. */
  #record(step: IteratorResult<AnswerChunk>, heard: () => void): void {
    if (step.done !== true) this.#getFrames(step.value);
    if (step.done === true || !this.#source.awaitsReport()) heard();
    else this.#advance();
  }

  /** The process is about to end. */
  stop(): void {
    if (this.#ended || this.#concluding) return;
    this.#opened = true;
    this.#breakOff(new ApiError(503, 'The service is about to restart. Try again shortly.'));
  }

  #open(): void {
    this.#opened = true;
    this.#source.signal.addEventListener('abort', this.#onAbort);
    if (this.#first !== undefined) this.#pull(this.#first);
    this.#first = undefined;
    this.#armTimer(MAX_SILENCE_MS);
  }

  /** One timer per silence, not one per event: a timer that fires after a write waits for the rest. */
  #armTimer(ms: number): void {
    const { clock } = this.#source;
    this.#cancelTimer = clock.timer(ms, () => {
      const left = this.#deliveredAt + MAX_SILENCE_MS - clock.now();
      if (left <= 0 && this.#ready === undefined)
        this.#deliver(this.#source.encoder.keepAlive?.() ?? KEEP_ALIVE);
      this.#armTimer(left > 0 ? left : MAX_SILENCE_MS);
    });
  }

  #close(): void {
    this.#opened = true;
    this.#ended = true;
    this.#cancelTimer?.();
    this.#source.signal.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    void this.leave();
  };

  #advance(): void {
    try {
      this.#pull(this.#source.chunks.next());
    } catch (error) {
      this.#breakOff(error);
    }
  }

  #pull(step: Promise<IteratorResult<AnswerChunk>>): void {
    this.#pulling = true;
    step.then(this.#onStep, this.#onFailure);
  }

  readonly #onStep = (step: IteratorResult<AnswerChunk>): void => {
    this.#pulling = false;
    try {
      if (this.#reportHeard !== undefined) this.#record(step, this.#reportHeard);
      if (this.#ended || this.#concluding) return;
      this.#take(step);
    } catch (error) {
      // Invalid provider output. An exception from here would terminate the host process.
      this.#breakOff(error);
    }
  };

  #take(step: IteratorResult<AnswerChunk>): void {
    if (step.done === true) {
      this.#concluding = true;
      this.#source
        .finish()
        .then((text) => this.#end(text))
        .catch((error: unknown) => this.#breakOff(error));
      return;
    }
    const text = this.#getFrames(step.value);
    if (text === '') this.#advance();
    else this.#deliver(text);
  }

  readonly #onFailure = (error: unknown): void => {
    this.#pulling = false;
    this.#reportHeard?.();
    if (!this.#ended && !this.#concluding) this.#fail(error);
  };

  /** Otherwise the provider would continue without a reader. */
  #breakOff(error: unknown): void {
    this.#reportHeard?.();
    if (this.#ended) return;
    this.#fail(error);
    cancelIterator(this.#source.chunks);
  }

  #fail(error: unknown): void {
    this.#concluding = true;
    void this.#source.fail(error).then((text) => this.#end(text));
  }

  #getFrames(chunk: AnswerChunk): string {
    const { encoder } = this.#source;
    if (Array.isArray(chunk)) {
      for (const part of chunk as readonly AnswerPart[]) {
        this.#source.see(part);
        encoder.add(part);
      }
    } else {
      this.#source.see(chunk as AnswerPart);
      encoder.add(chunk as AnswerPart);
    }
    return encoder.flush();
  }

  #end(text: string): void {
    this.#close();
    this.#deliver(text);
  }

  #deliver(text: string): void {
    this.#deliveredAt = this.#source.clock.now();
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) this.#ready = (this.#ready ?? '') + text;
    else reader({ done: false, value: text });
  }
}
