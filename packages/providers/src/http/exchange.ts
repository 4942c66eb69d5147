import type { Dispatcher } from 'undici';
import type { Faults } from './faults.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An unexpected response: an error status, a redirect or a page. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Headers;
  /** The beginning of its body. */
  readonly text: string;
}

/** The expected response and its timeout. */
export interface ResponseOptions {
  /** Timeout until the first byte of the body, including the wait for a connection. 0: none. */
  readonly firstByteTimeoutMs: number;
  /** Whether the content type is the expected one. */
  accepts(contentType: string): boolean;
  /** Whether every 2xx counts as success, such as 201 and 202 for jobs. Default: only 200. */
  readonly anySuccess?: boolean;
}

/** Receives the body of an accepted response. */
export interface BodyReceiver {
  data(chunk: Buffer): void;
  /** The last call, made once. Without an error, the body is complete by its framing. */
  over(failure: { readonly error: unknown } | undefined): void;
}

/** The beginning of an error response is enough for operators. */
const refusalLimit = 64 * 1024;

/** Maximum time between the final event and the end of the response, after which the connection closes. */
const lingerMs = 1000;

/**
 * One request: abort, deadline, headers and error responses. A handler of the HTTP client, because a stream
 * object between the connection and the parser costs more than parsing.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves with the accepted head; rejects with a `ProviderError`, or with the signal's reason. */
  readonly answered: Promise<void>;
  readonly #options: ResponseOptions;
  readonly #faults: Faults;
  readonly #signal: AbortSignal | undefined;
  readonly #receiver: BodyReceiver;
  #accept: () => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #state: 'waiting' | 'refused' | 'open' | 'over' = 'waiting';
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #refusal: { status: number; headers: Headers; chunks: Buffer[]; size: number } | undefined;
  #pausable = false;
  #contentType = '';

  constructor(
    options: ResponseOptions,
    faults: Faults,
    signal: AbortSignal | undefined,
    receiver: BodyReceiver,
  ) {
    this.#options = options;
    this.#faults = faults;
    this.#signal = signal;
    this.#receiver = receiver;
    this.answered = new Promise((resolve, reject) => {
      this.#accept = resolve;
      this.#reject = reject;
    });
    signal?.addEventListener('abort', this.#onAbort);
    if (options.firstByteTimeoutMs > 0) {
      this.#timer = setTimeout(() => this.#late(), options.firstByteTimeoutMs);
      this.#timer.unref();
    }
  }

  /** The content type of the accepted response. */
  get contentType(): string {
    return this.#contentType;
  }

  /** A function: with an object, for which node makes a closure, four times as much of an answer reaches the old generation. */
  readonly #onAbort = (): void => this.stop(this.#signal?.reason);

  /** Aborts the exchange and the provider's work. No effect after its end. */
  stop(reason: unknown): void {
    if (this.#state === 'over') return;
    const open = this.#state === 'open';
    this.#settle();
    this.#abort();
    if (open) this.#receiver.over({ error: reason });
    else this.#reject(reason);
  }

  /** Stops reading until `resume`. @returns false if the response cannot be paused. */
  pause(): boolean {
    if (this.#pausable) this.#controller?.pause();
    return this.#pausable;
  }

  resume(): void {
    this.#controller?.resume();
  }

  /** The answer is complete: waits briefly for the end of the response, so that its connection can be reused. */
  linger(): void {
    if (this.#state === 'over') return;
    this.resume();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(undefined), lingerMs);
    this.#timer.unref();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Aborted during the wait for a connection.
    if (this.#state === 'over') this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (this.#state !== 'waiting' || status < 200) return;
    const type = headers['content-type'];
    const contentType = typeof type === 'string' ? type : '';
    const isSuccess = status === 200 || (this.#options.anySuccess === true && status < 300);
    if (isSuccess && this.#options.accepts(contentType)) {
      this.#state = 'open';
      this.#contentType = contentType;
      this.#pausable = outlivesItsEnd(headers);
      this.#accept();
    } else {
      this.#state = 'refused';
      this.#refusal = { status, headers, chunks: [], size: 0 };
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#state === 'open') {
      if (this.#timer !== undefined) this.#clearTimer();
      this.#receiver.data(chunk);
    } else if (this.#refusal !== undefined && this.#state === 'refused') {
      this.#refusal.chunks.push(chunk);
      this.#refusal.size += chunk.length;
      if (this.#refusal.size > refusalLimit) this.#refuse();
    }
  }

  onResponseEnd(): void {
    if (this.#state === 'refused') this.#refuse();
    if (this.#state !== 'open') return;
    this.#settle();
    this.#receiver.over(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // A truncated error body still counts.
    if (this.#state === 'refused') this.#refuse();
    if (this.#state === 'over') return;
    const open = this.#state === 'open';
    this.#settle();
    const fault = this.#faults.other(error);
    if (open) this.#receiver.over({ error: fault });
    else this.#reject(fault);
  }

  #late(): void {
    if (this.#state === 'refused') this.#refuse();
    else this.stop(this.#faults.timeout(this.#options.firstByteTimeoutMs));
  }

  #refuse(): void {
    const refusal = this.#refusal;
    if (refusal === undefined) return;
    this.#settle();
    this.#abort();
    const text = Buffer.concat(refusal.chunks).toString('utf8', 0, refusalLimit);
    this.#reject(this.#faults.refusal({ status: refusal.status, headers: refusal.headers, text }));
  }

  #settle(): void {
    this.#state = 'over';
    this.#clearTimer();
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #abort(): void {
    this.#controller?.abort(new Error('the exchange was broken off'));
  }
}

/**
 * Whether the connection stays open after this response. If not, it must not be paused: undici's parser fails an
 * assertion, which cannot be caught, when the other side disconnects while it is paused (7.30, `Parser.finish`).
 */
function outlivesItsEnd(headers: Headers): boolean {
  const { connection, 'transfer-encoding': encoding } = headers;
  const closes = typeof connection === 'string' && /close/i.test(connection);
  return !closes && typeof encoding === 'string' && /chunked/i.test(encoding);
}
