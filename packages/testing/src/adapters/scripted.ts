import type { ApiRequest, ApiResponse, Mountable } from '@questline/core';
import { signalled } from './waiting.ts';

type Script = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** A mountable that answers exactly the given paths, with any query and method. */
export function scripted(scripts: Readonly<Record<string, Script>>): Mountable {
  return {
    async handle(request) {
      return Object.hasOwn(scripts, request.path) ? scripts[request.path]?.(request) : undefined;
    },
  };
}

export function text(body: string, status = 200): ApiResponse {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body };
}

export function json(value: unknown, status = 200): ApiResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8' },
    body: JSON.stringify(value),
  };
}

export function events(body: AsyncIterable<string | Uint8Array>): ApiResponse {
  return {
    status: 200,
    headers: {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    },
    body,
  };
}

type Step = IteratorResult<string | Uint8Array>;

/** A streamed body that yields scripted chunks, and counts reads and cancellations. */
export class ScriptedBody implements AsyncIterableIterator<string | Uint8Array> {
  /** Calls of `next`. */
  reads = 0;
  /** Calls of `return`: at most one is correct, and none after the end. */
  returns = 0;
  /** Number of ends of any kind: one is correct. */
  ends = 0;
  readonly #ready: (() => Step)[] = [];
  #waiting: { resolve: (step: Step) => void; reject: (error: unknown) => void } | undefined;
  readonly #read = signalled();
  readonly #returned = signalled();

  /** Resolves at the first read. */
  get firstRead(): Promise<void> {
    return this.#read.promise;
  }

  /** Resolves when the reader has cancelled. */
  get returned(): Promise<void> {
    return this.#returned.promise;
  }

  push(chunk: string | Uint8Array): void {
    this.#give(() => ({ done: false, value: chunk }));
  }

  end(): void {
    this.#give(() => {
      this.ends += 1;
      return { done: true, value: undefined };
    });
  }

  fail(): void {
    this.#give(() => {
      this.ends += 1;
      throw new Error('secret of the source');
    });
  }

  next(): Promise<Step> {
    this.reads += 1;
    this.#read.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#serve();
    });
  }

  return(): Promise<Step> {
    this.returns += 1;
    this.ends += 1;
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#returned.resolve();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #give(step: () => Step): void {
    this.#ready.push(step);
    this.#serve();
  }

  #serve(): void {
    const reader = this.#waiting;
    if (reader === undefined) return;
    const step = this.#ready.shift();
    if (step === undefined) return;
    this.#waiting = undefined;
    try {
      reader.resolve(step());
    } catch (error) {
      reader.reject(error);
    }
  }
}
