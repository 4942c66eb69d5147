import { nextTick } from 'node:process';
import { leave } from '../streams.ts';

/** Where a streamed body goes. */
export interface BodySink {
  /** @returns false when it is full: the pump then waits for `resume()`. */
  write(chunk: string | Uint8Array): boolean;
  /** The source is done. `rest` is what was not written yet, perhaps empty. */
  end(rest: string): void;
  /** The source failed. What was announced cannot be delivered, and the client must be able to tell. */
  fail(): void;
}

/** Characters kept back at most before they are written without waiting for the tick to end. */
const LARGEST_JOIN = 16_384;

/**
 * Carries a streamed body from its source to a sink, no faster than the sink takes it. All text that one tick of the
 * event loop brings becomes one write: every write costs far more than every event.
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

  /** Whether the sink was given anything, the end included. */
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
        // Whoever made the source has reported this; clients get no internals, and hosts have no part in it.
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

  /** The sink has room again. */
  resume(): void {
    if (!this.#full) return;
    this.#full = false;
    this.flush();
    if (this.#full) return;
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Nobody wants the rest: tells the source once, started or not, and writes nothing more. */
  leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#text = '';
    this.#wake?.();
    leave(this.#source);
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
    if (this.#text.length >= LARGEST_JOIN) {
      this.flush();
    } else if (!this.#flushing) {
      this.#flushing = true;
      // Queued from a promise job, this runs once all promise jobs are done: at the end of what the tick brought.
      nextTick(flushPump, this);
    }
  }

  #write(chunk: string | Uint8Array): void {
    this.#written = true;
    try {
      if (!this.#sink.write(chunk)) this.#full = true;
    } catch {
      // Not a chunk at all. Thrown from a tick of its own, it would end the host's process.
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

/** Ends a streamed body that will not be sent at all; other bodies need nothing. */
export function discard(body: unknown): void {
  if (isStreamed(body)) leave(body[Symbol.asyncIterator]());
}

export function isStreamed(body: unknown): body is AsyncIterable<string | Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}
