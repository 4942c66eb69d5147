import { StringDecoder } from 'node:string_decoder';
import { type ModelChunk, type ModelPart, ProviderError } from '@questline/core/ports';
import {
  createParser,
  type EventSourceMessage,
  type EventSourceParser,
  type ParseError,
  type ParserCallbacks,
} from 'eventsource-parser';
import type { BodyReceiver, Exchange } from './exchange.ts';

/** Decodes the events of one response. Throws a `ProviderError` for an error event. */
export interface EventDecoder {
  /** Decodes one event, appending to `parts`. @returns true after the final event. */
  event(data: string, parts: ModelPart[]): boolean;
  /** The response ended without a final event. Throws unless the answer is complete. */
  end(parts: ModelPart[]): void;
}

/** Maximum buffered bytes for a slow reader; above it, reading pauses. */
const unreadLimit = 64 * 1024;

/** The same for a connection that cannot be paused; above it, the answer fails. */
const unpausableLimit = 16 * 1024 * 1024;

/** Maximum characters of one event: far above real ones. */
const eventLimit = 16 * 1024 * 1024;

/**
 * The parts of one answer, as a hand-written iterator: everything received since the last step is
 * parsed together and returned as one chunk. Parsing waits for the reader, so a slow reader slows down
 * the provider. One reader at a time.
 */
export class EventStream implements AsyncIterableIterator<ModelChunk>, BodyReceiver {
  readonly #decoder: EventDecoder;
  readonly #listener = new ParserListener(this);
  #parser: EventSourceParser | undefined;
  readonly #fault: (error: unknown) => ProviderError;
  // One decoder per answer: a read may end within a character.
  readonly #utf8 = new StringDecoder('utf8');
  #exchange: Exchange | undefined;
  #text = '';
  #unread = 0;
  #paused = false;
  #parts: ModelPart[] = [];
  /** The decoder received the final event. */
  #complete = false;
  /** The body has ended or failed. */
  #over: { readonly failure: { readonly error: unknown } | undefined } | undefined;
  #failure: { readonly error: unknown } | undefined;
  #done = false;
  #resolve: ((result: IteratorResult<ModelChunk>) => void) | undefined;
  #reject: (error: unknown) => void = () => {};
  #woken = false;

  constructor(decoder: EventDecoder, fault: (error: unknown) => ProviderError) {
    this.#decoder = decoder;
    this.#fault = fault;
  }

  /** Called by the parser with the data of one event. */
  take(data: string): void {
    if (!this.#complete) this.#complete = this.#decoder.event(data, this.#parts);
  }

  /** Sets the exchange of this body. */
  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  data(chunk: Buffer): void {
    if (this.#complete) return;
    this.#text += this.#utf8.write(chunk);
    this.#unread += chunk.length;
    if (this.#resolve !== undefined) {
      this.#wake();
    } else if (this.#unread > unreadLimit && !this.#paused) {
      this.#paused = this.#exchange?.pause() ?? false;
      if (!this.#paused && this.#unread > unpausableLimit) {
        this.#exchange?.stop(this.#fault(new Error('the answer came faster than it was read')));
      }
    }
  }

  over(failure: { readonly error: unknown } | undefined): void {
    this.#over = { failure };
    if (this.#resolve !== undefined) this.#wake();
  }

  next(): Promise<IteratorResult<ModelChunk>> {
    if (this.#resolve !== undefined) return Promise.reject(new TypeError('the last step is still under way'));
    let result: IteratorResult<ModelChunk> | undefined;
    try {
      result = this.#step();
    } catch (error) {
      return Promise.reject(error);
    }
    if (result !== undefined) return Promise.resolve(result);
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  return(): Promise<IteratorResult<ModelChunk>> {
    const result = { done: true, value: undefined } as const;
    this.#close();
    this.#text = '';
    // The answer is complete: let the response end, so that its connection can be reused.
    if (!this.#complete) this.#exchange?.stop(undefined);
    this.#resolve?.(result);
    this.#resolve = undefined;
    return Promise.resolve(result);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** One read may deliver several chunks in separate calls; after a microtask all have arrived. */
  #wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#woken = false;
    const resolve = this.#resolve;
    if (resolve === undefined) return;
    try {
      const result = this.#step();
      if (result === undefined) return;
      this.#resolve = undefined;
      resolve(result);
    } catch (error) {
      this.#resolve = undefined;
      this.#reject(error);
    }
  }

  /** The next result; undefined before the next parts. Parts before a failure come first. */
  #step(): IteratorResult<ModelChunk> | undefined {
    if (this.#done) return { done: true, value: undefined };
    if (this.#failure === undefined) this.#parse();
    const parts = this.#parts;
    if (parts.length > 0) {
      this.#parts = [];
      return { done: false, value: parts };
    }
    if (this.#failure !== undefined) {
      this.#close();
      throw this.#failure.error;
    }
    if (!this.#complete) return undefined;
    this.#close();
    return { done: true, value: undefined };
  }

  #close(): void {
    this.#done = true;
    this.#listener.stream = undefined;
  }

  #parse(): void {
    if (this.#complete) return;
    const text = this.#text;
    this.#text = '';
    this.#unread = 0;
    try {
      if (text !== '') this.#feed(text);
      if (this.#over !== undefined && !this.#complete) this.#finish(this.#over.failure);
    } catch (error) {
      this.#failure = { error: this.#fault(error) };
      this.#exchange?.stop(undefined);
    }
    if (this.#complete) {
      this.#exchange?.linger();
    } else if (this.#paused) {
      this.#paused = false;
      this.#exchange?.resume();
    }
  }

  #feed(text: string): void {
    this.#parser ??= createParser(this.#listener);
    this.#parser.feed(text);
  }

  #finish(failure: { readonly error: unknown } | undefined): void {
    if (failure !== undefined) {
      this.#failure = failure;
      return;
    }
    try {
      // The last event may lack its blank line; a truncated event is invalid JSON.
      this.#feed(`${this.#utf8.end()}\n\n`);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new ProviderError('failed', 'the stream ended in the middle of an event');
    }
    if (!this.#complete) this.#decoder.end(this.#parts);
    this.#complete = true;
  }
}

/**
 * Separates a parser from its stream, so that the stream can be collected first. V8 promotes objects of many
 * open streams to the old generation, and everything they refer to stays
 * until a full collection: the parser would retain its stream, exchange and headers.
 * @see https://v8.dev/blog/trash-talk
 */
class ParserListener implements ParserCallbacks {
  stream: EventStream | undefined;
  readonly maxBufferSize = eventLimit;

  constructor(stream: EventStream) {
    this.stream = stream;
  }

  readonly onEvent = ({ data }: EventSourceMessage): void => this.stream?.take(data);

  readonly onError = ({ type }: ParseError): void => {
    if (type === 'max-buffer-size-exceeded') {
      throw new ProviderError('malformed_answer', `an event is longer than ${eventLimit} characters`);
    }
  };
}
