import type { OpenStream } from '../engine/open-streams.ts';
import { ApiError } from '../errors.ts';
import { DONE, frame, KEEP_ALIVE } from '../http/sse.ts';
import type { Clock } from '../ports/clock.ts';
import type { ModelChunk, ModelPart, ThinkingBlock } from '../ports/models.ts';
import { leave } from '../streams.ts';
import { toWireThinking } from './thinking.ts';

/** About this often something is sent, so that no proxy takes a thinking model for a dead one. */
const KEEP_ALIVE_EVERY_MS = 10_000;

export interface CompletionStreamOptions {
  readonly source: AsyncIterator<ModelChunk>;
  /** The provider's first step, already under way when the head goes out. */
  readonly first: Promise<IteratorResult<ModelChunk>>;
  readonly clock: Clock;
  /** Told of everything the model says, before it goes out. */
  readonly see: (part: ModelPart) => void;
  /** Echoed as a `meta` event; undefined leaves that event out. */
  readonly requestId: string | undefined;
  /** Settles the money of a call that came to its own end, and says what stands on its last event. */
  readonly finish: () => Promise<Readonly<Record<string, unknown>>>;
  /** Settles the money of a call that broke off, and says what the `error` event tells. Never rejects. */
  readonly fail: (error: unknown) => Promise<Readonly<Record<string, unknown>>>;
}

type Step = IteratorResult<string, undefined>;

/**
 * The frames of one completion. What one step of the provider brings becomes one string, so that it becomes one write.
 * A class with a hand-written `next`, because this runs once per event of every stream.
 */
export class CompletionStream implements AsyncIterableIterator<string, undefined>, OpenStream {
  readonly #options: CompletionStreamOptions;
  readonly #tools: { name: string; arguments: string; id: string }[] = [];
  #thinking: ThinkingBlock[] = [];
  #opened = false;
  #ended = false;
  /** Its last event is being made: the provider's steps count no more. */
  #concluding = false;
  /** A step of the provider is awaited. */
  #pulling = false;
  #ready: string | undefined;
  #reader: ((step: Step) => void) | undefined;
  #quiet = true;
  #cancelTimer: (() => void) | undefined;

  constructor(options: CompletionStreamOptions) {
    this.#options = options;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (!this.#opened) {
      this.#open();
      const { requestId } = this.#options;
      const meta = requestId === undefined ? '' : frame({ type: 'meta', requestId });
      return Promise.resolve({ done: false, value: KEEP_ALIVE + meta });
    }
    if (this.#ready !== undefined) {
      const value = this.#ready;
      this.#ready = undefined;
      return Promise.resolve({ done: false, value });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#reader = resolve;
      if (!this.#pulling && !this.#concluding) this.#advance();
    });
  }

  async return(): Promise<Step> {
    this.#close();
    this.#reader?.({ done: true, value: undefined });
    this.#reader = undefined;
    await this.#options.source.return?.();
    return { done: true, value: undefined };
  }

  /** The process is about to end. */
  stop(): void {
    if (this.#ended || this.#concluding) return;
    this.#opened = true;
    this.#breakOff(new ApiError(503, 'The service is about to restart. Try again shortly.'));
  }

  #open(): void {
    this.#opened = true;
    this.#pull(this.#options.first);
    this.#armTimer();
  }

  #armTimer(): void {
    this.#cancelTimer = this.#options.clock.timer(KEEP_ALIVE_EVERY_MS, () => {
      this.#armTimer();
      if (this.#quiet && this.#reader !== undefined) this.#deliver(KEEP_ALIVE);
      this.#quiet = true;
    });
  }

  #close(): void {
    this.#opened = true;
    this.#ended = true;
    this.#cancelTimer?.();
  }

  #advance(): void {
    try {
      this.#pull(this.#options.source.next());
    } catch (error) {
      this.#pulling = false;
      this.#breakOff(error);
    }
  }

  #pull(step: Promise<IteratorResult<ModelChunk>>): void {
    this.#pulling = true;
    step.then(this.#onStep, this.#onFailure);
  }

  readonly #onStep = (step: IteratorResult<ModelChunk>): void => {
    this.#pulling = false;
    if (this.#ended || this.#concluding) return;
    try {
      this.#take(step);
    } catch (error) {
      // What came is no part of an answer. Thrown from here, it would end the host's process.
      this.#breakOff(error);
    }
  };

  #take(step: IteratorResult<ModelChunk>): void {
    if (step.done === true) {
      this.#concluding = true;
      this.#options
        .finish()
        .then((facts) => this.#last(facts))
        .catch((error: unknown) => this.#breakOff(error));
      return;
    }
    const text = this.#framesOf(step.value);
    if (text === '') this.#advance();
    else this.#deliver(text);
  }

  readonly #onFailure = (error: unknown): void => {
    this.#pulling = false;
    if (!this.#ended && !this.#concluding) this.#fail(error);
  };

  /** The provider would go on, unheard. */
  #breakOff(error: unknown): void {
    this.#fail(error);
    leave(this.#options.source);
  }

  #fail(error: unknown): void {
    this.#concluding = true;
    void this.#options.fail(error).then((event) => this.#end(frame({ type: 'error', ...event })));
  }

  /** Text that arrived together goes out together: one increment, one frame. */
  #framesOf(chunk: ModelChunk): string {
    const parts = Array.isArray(chunk) ? (chunk as readonly ModelPart[]) : [chunk as ModelPart];
    let text = '';
    for (const part of parts) {
      this.#options.see(part);
      if (part.type === 'text') text += part.text;
      else if (part.type === 'thinking') this.#thinking.push(toWireThinking(part.block));
      else if (part.type === 'tool_use') {
        // All calls of a turn go out in one event, at its end.
        this.#tools.push({ name: part.name, arguments: part.arguments, id: part.id });
      }
    }
    return text === '' ? '' : frame({ type: 'content', text, ...this.#takeThinking() });
  }

  #takeThinking(): { thinking?: ThinkingBlock[] } {
    if (this.#thinking.length === 0) return {};
    const thinking = this.#thinking;
    this.#thinking = [];
    return { thinking };
  }

  #last(facts: Readonly<Record<string, unknown>>): void {
    const event = {
      text: '',
      ...(this.#tools.length > 0 && { tools: this.#tools }),
      ...this.#takeThinking(),
      ...facts,
    };
    this.#end(frame({ type: this.#tools.length > 0 ? 'tool_use' : 'content', ...event }));
  }

  #end(text: string): void {
    this.#close();
    this.#deliver(text + DONE);
  }

  #deliver(text: string): void {
    this.#quiet = false;
    const reader = this.#reader;
    this.#reader = undefined;
    if (reader === undefined) this.#ready = (this.#ready ?? '') + text;
    else reader({ done: false, value: text });
  }
}
