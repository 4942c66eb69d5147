import type { Dispatcher } from 'undici';
import type { Faults } from './faults.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** An answer that is not the one asked for: an error status, a redirect, a page. */
export interface Refusal {
  readonly status: number;
  readonly headers: Headers;
  /** The beginning of its body. */
  readonly text: string;
}

/** Which answer is the one asked for, and how long it may take to begin. */
export interface AnswerTerms {
  /** From sending until the first byte of the body, waiting for a connection included. 0: no bound. */
  readonly firstByteTimeoutMs: number;
  /** Whether a body of this content type is the one asked for. */
  accepts(contentType: string): boolean;
  /** Whether every 2xx will do: work that takes its time is answered with 201 or 202. Default: 200 alone. */
  readonly anySuccess?: boolean;
}

/** Takes the body of an accepted answer. */
export interface BodyReceiver {
  data(chunk: Buffer): void;
  /** The last call, made once. Without a failure the body has ended as its framing says. */
  over(failure: { readonly error: unknown } | undefined): void;
}

/** Operators need the beginning of a refusal; nobody needs a flood. */
const refusalLimit = 64 * 1024;

/** How long the end of an answer may follow its last event before the connection is given up. */
const lingerMs = 1000;

/**
 * One request on its way: abort, deadline, head and refusals. A handler of the HTTP client itself, because a stream
 * object between the connection and the parser costs more than parsing.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves with the accepted head; rejects with a `ProviderError`, or with the signal's reason. */
  readonly answered: Promise<void>;
  readonly #terms: AnswerTerms;
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

  constructor(terms: AnswerTerms, faults: Faults, signal: AbortSignal | undefined, receiver: BodyReceiver) {
    this.#terms = terms;
    this.#faults = faults;
    this.#signal = signal;
    this.#receiver = receiver;
    this.answered = new Promise((resolve, reject) => {
      this.#accept = resolve;
      this.#reject = reject;
    });
    signal?.addEventListener('abort', this);
    if (terms.firstByteTimeoutMs > 0) {
      this.#timer = setTimeout(() => this.#late(), terms.firstByteTimeoutMs);
      this.#timer.unref();
    }
  }

  /** Of the accepted answer. */
  get contentType(): string {
    return this.#contentType;
  }

  /** The signal was aborted. */
  handleEvent(): void {
    this.stop(this.#signal?.reason);
  }

  /** Breaks the exchange off; the provider's work stops. Does nothing once it is over. */
  stop(reason: unknown): void {
    if (this.#state === 'over') return;
    const open = this.#state === 'open';
    this.#settle();
    this.#abort();
    if (open) this.#receiver.over({ error: reason });
    else this.#reject(reason);
  }

  /** Stops reading until `resume`. @returns false where the answer cannot be held back. */
  pause(): boolean {
    if (this.#pausable) this.#controller?.pause();
    return this.#pausable;
  }

  resume(): void {
    this.#controller?.resume();
  }

  /** Everything wanted has been read: gives the answer a moment to end, so that its connection can be used again. */
  linger(): void {
    if (this.#state === 'over') return;
    this.resume();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(undefined), lingerMs);
    this.#timer.unref();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Stopped while it waited for a connection.
    if (this.#state === 'over') this.#abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (this.#state !== 'waiting' || status < 200) return;
    const type = headers['content-type'];
    const contentType = typeof type === 'string' ? type : '';
    const isSuccess = status === 200 || (this.#terms.anySuccess === true && status < 300);
    if (isSuccess && this.#terms.accepts(contentType)) {
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
    // A refusal that breaks off is still that refusal.
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
    else this.stop(this.#faults.timeout(this.#terms.firstByteTimeoutMs));
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
    this.#signal?.removeEventListener('abort', this);
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
 * Whether the connection stays after this answer. One that closes with it must not be paused: undici's parser fails an
 * assertion, outside of anybody's reach, when the other side leaves while it is paused (7.30, `Parser.finish`).
 */
function outlivesItsEnd(headers: Headers): boolean {
  const { connection, 'transfer-encoding': encoding } = headers;
  const closes = typeof connection === 'string' && /close/i.test(connection);
  return !closes && typeof encoding === 'string' && /chunked/i.test(encoding);
}
