import { nextTick } from 'node:process';
import { cancelIterator } from '../shared/streams.ts';

/** The destination of a streamed body. */
export interface BodySink {
  /** @returns false if the buffer is full; the pump then waits for `resume()`. */
  write(chunk: string | Uint8Array): boolean;
  /** The source ended. `rest` is the unwritten data, possibly empty. */
  end(rest: string): void;
  /** The source failed. The client must be able to detect the truncation. */
  fail(): void;
}

/** Maximum buffered characters before a write without waiting for the end of the tick. */
const MAX_JOIN = 16_384;

/**
 * Pipes a streamed body from its source to a sink, with backpressure. Joins all text of one event loop tick into one
 * write, because a write costs far more than an event.
 */
export class Pump {
  readonly #source: AsyncIterator<string | Uint8Array>;
  readonly #sink: BodySink;
  #text = '';
  #flushing = false;
  #full = false;
  #over = false;
  #written = false;
  #wake: (() => void) | undefined;

  constructor(body: AsyncIterable<string | Uint8Array>, sink: BodySink) {
    this.#source = body[Symbol.asyncIterator]();
    this.#sink = sink;
  }

  /** Whether the sink received anything, including the end. */
  get written(): boolean {
    return this.#written;
  }

  /** Call once. Never rejects. */
  async run(): Promise<void> {
    while (!this.#over) {
      let step: IteratorResult<string | Uint8Array>;
      try {
        step = await this.#source.next();
      } catch {
        // The creator of the source reports the failure; clients and hosts get no details.
        this.#fail();
        return;
      }
      if (this.#over) return;
      if (step.done === true) {
        this.#end();
        return;
      }
      this.#take(step.value);
      if (this.#full) await this.#room();
    }
  }

  /** Continues after backpressure. */
  resume(): void {
    if (!this.#full) return;
    this.#full = false;
    this.flush();
    if (this.#full) return;
    this.#wake?.();
  }

  /** Cancels: ends the source once, even if it has not started, and writes nothing more. */
  leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#text = '';
    this.#wake?.();
    cancelIterator(this.#source);
  }

  flush(): void {
    this.#flushing = false;
    if (this.#text === '' || this.#full) return;
    const text = this.#text;
    this.#text = '';
    this.#write(text);
  }

  #take(chunk: string | Uint8Array): void {
    if (typeof chunk !== 'string') {
      this.flush();
      this.#write(chunk);
      return;
    }
    this.#text += chunk;
    if (this.#text.length >= MAX_JOIN) {
      this.flush();
    } else if (!this.#flushing) {
      this.#flushing = true;
      // Queued from a microtask, this runs after all microtasks of the tick.
      nextTick(flushPump, this);
    }
  }

  #write(chunk: string | Uint8Array): void {
    this.#written = true;
    try {
      if (!this.#sink.write(chunk)) this.#full = true;
    } catch {
      // An invalid chunk. Thrown from `nextTick`, the error would crash the host's process.
      this.leave();
      this.#sink.fail();
    }
  }

  #end(): void {
    const rest = this.#text;
    this.#text = '';
    this.#over = true;
    this.#written = true;
    this.#sink.end(rest);
  }

  #fail(): void {
    if (this.#over) return;
    this.flush();
    this.#over = true;
    this.#sink.fail();
  }

  #room(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

function flushPump(pump: Pump): void {
  pump.flush();
}

/** Cancels a streamed body that will not be sent. Other bodies need no cleanup. */
export function discard(body: unknown): void {
  if (isStreamed(body)) cancelIterator(body[Symbol.asyncIterator]());
}

export function isStreamed(body: unknown): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}
