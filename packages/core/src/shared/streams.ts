/** The end of a stream. */
export type StreamEnd =
  | { readonly reason: 'done' }
  | { readonly reason: 'failed'; readonly error: unknown }
  /** The reader stopped, possibly before the first read. */
  | { readonly reason: 'abandoned' };

/**
 * Runs `finalize` exactly once at the end of a stream, also if the reader stops before the first read. The `finally`
 * of a generator is not enough: `return()` on a generator that has not started skips it.
 *
 * The reader sees the end only after `finalize` settles. An error of `finalize` reaches the reader, unless the source
 * failed.
 */
export function finalizing<T>(
  source: AsyncIterator<T>,
  finalize: (end: StreamEnd) => void | Promise<void>,
): AsyncIterableIterator<T> {
  return new FinalizedStream(source, finalize);
}

const FINISHED: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** A class, for speed: every streamed response passes through it. */
class FinalizedStream<T> implements AsyncIterableIterator<T> {
  readonly #source: AsyncIterator<T>;
  readonly #finalize: (end: StreamEnd) => void | Promise<void>;
  #ended: Promise<void> | undefined;

  constructor(source: AsyncIterator<T>, finalize: (end: StreamEnd) => void | Promise<void>) {
    this.#source = source;
    this.#finalize = finalize;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    if (this.#ended !== undefined) return this.#ended.then(() => FINISHED);
    return this.#source.next().then(this.#onStep, this.#onFailure);
  }

  async return(): Promise<IteratorResult<T>> {
    // The source may wait for its upstream, so do not wait for the source.
    const stopped = this.#source.return?.();
    try {
      await this.#end({ reason: 'abandoned' });
    } finally {
      await stopped?.catch(() => undefined);
    }
    return FINISHED;
  }

  readonly #onStep = (step: IteratorResult<T>): IteratorResult<T> | Promise<IteratorResult<T>> =>
    step.done === true ? this.#end({ reason: 'done' }).then(() => FINISHED) : step;

  readonly #onFailure = async (error: unknown): Promise<never> => {
    await this.#end({ reason: 'failed', error }).catch(() => undefined);
    throw error;
  };

  #end(how: StreamEnd): Promise<void> {
    this.#ended ??= Promise.resolve(how).then(this.#finalize);
    return this.#ended;
  }
}

/**
 * A lazy iterator: the first `next()` creates it. `return()` before that does not wait; the iterator is cancelled as
 * soon as it exists.
 */
export function lazyIterator<T>(
  open: () => Promise<AsyncIterator<T>>,
): Required<Pick<AsyncIterator<T>, 'next' | 'return'>> {
  return new LazyIterator(open);
}

/** A class, because every open stream keeps one. */
class LazyIterator<T> {
  /** Undefined after the first call. */
  #open: (() => Promise<AsyncIterator<T>>) | undefined;
  #source: AsyncIterator<T> | undefined;
  #isLeft = false;

  constructor(open: () => Promise<AsyncIterator<T>>) {
    this.#open = open;
  }

  next(): Promise<IteratorResult<T>> {
    return this.#source?.next() ?? this.#begin();
  }

  async #begin(): Promise<IteratorResult<T>> {
    const open = this.#open;
    // As a generator, which is over after a failure.
    if (open === undefined) return FINISHED;
    this.#open = undefined;
    const source = await open();
    this.#source = source;
    // Awaited: a promise that an async function returns takes two more microtasks.
    if (!this.#isLeft) return await source.next();
    cancelIterator(source);
    return FINISHED;
  }

  async return(): Promise<IteratorResult<T>> {
    this.#isLeft = true;
    await this.#source?.return?.();
    return FINISHED;
  }
}

/** Cancels an iterator without waiting for it. Its owner reports errors. */
export function cancelIterator(source: AsyncIterator<unknown>): void {
  try {
    source.return?.()?.then(undefined, () => undefined);
  } catch {
    // As above.
  }
}

/** Rejects with the signal's reason when it is aborted; `work` may continue, but its result is ignored. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
