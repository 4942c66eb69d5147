import { StringDecoder } from 'node:string_decoder';
import { type ModelChunk, type ModelPart, ProviderError } from '@questline/core';
import {
  createParser,
  type EventSourceMessage,
  type EventSourceParser,
  type ParseError,
  type ParserCallbacks,
} from 'eventsource-parser';
import type { BodyReceiver, Exchange } from './exchange.ts';

/** What a protocol makes of the events of one answer. Throws a `ProviderError` for an error among them. */
export interface EventDecoder {
  /** Takes one event's data, appending to `parts`. @returns true once nothing of interest can follow. */
  event(data: string, parts: ModelPart[]): boolean;
  /** The answer ended without such an event. Throws unless it was complete all the same. */
  end(parts: ModelPart[]): void;
}

/** Bytes that may wait for a slow reader before the connection is no longer read. */
const unreadLimit = 64 * 1024;

/** The same where the connection cannot be held back: past this the answer fails. */
const unpausableLimit = 16 * 1024 * 1024;

/** Characters of one event, however many reads it takes: far above real ones, far below what hurts. */
const eventLimit = 16 * 1024 * 1024;

/**
 * The parts of one answer, as an iterator written out by hand: everything that has arrived since the last step is
 * parsed together and handed over as one chunk. Nothing is parsed before somebody asks, so a slow reader holds back
 * the provider. One reader at a time.
 */
export class EventStream implements AsyncIterableIterator<ModelChunk>, BodyReceiver {
  readonly #decoder: EventDecoder;
  readonly #listener = new ParserListener(this);
  #parser: EventSourceParser | undefined;
  readonly #fault: (error: unknown) => ProviderError;
  // One decoder for the whole answer: a character may be cut by the end of a read.
  readonly #utf8 = new StringDecoder('utf8');
  #exchange: Exchange | undefined;
  #text = '';
  #unread = 0;
  #paused = false;
  #parts: ModelPart[] = [];
  /** The decoder has seen the last event. */
  #complete = false;
  /** The body is over, perhaps by a failure. */
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

  /** For the parser: one event's data. */
  take(data: string): void {
    if (!this.#complete) this.#complete = this.#decoder.event(data, this.#parts);
  }

  /** Names the exchange whose body this takes. */
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
    // A complete answer may end in peace: its connection is worth keeping.
    if (!this.#complete) this.#exchange?.stop(undefined);
    this.#resolve?.(result);
    this.#resolve = undefined;
    return Promise.resolve(result);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** One read may bring many pieces, each a call of its own; a microtask later all of them are here. */
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

  /** What can be handed over now; undefined when that is nothing yet. Parts made before a failure go first. */
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
    // The last event may lack its blank line; half an event is no JSON and fails there.
    this.#feed(`${this.#utf8.end()}\n\n`);
    if (!this.#complete) this.#decoder.end(this.#parts);
    this.#complete = true;
  }
}

/**
 * What stands between a parser and its stream, so that the one can be let go of without the other. What many open
 * streams made while V8 learned about them, it puts among the long-lived from then on, and whatever that refers to stays
 * until a full collection: the parser is of that kind, and would keep its stream, exchange and headers.
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
      throw new ProviderError('failed', `an event is longer than ${eventLimit} characters`);
    }
  };
}
