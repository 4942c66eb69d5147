/** How a stream ended. */
export type StreamEnd =
  | { readonly reason: 'done' }
  | { readonly reason: 'failed'; readonly error: unknown }
  /** The reader left, perhaps before the first read. */
  | { readonly reason: 'abandoned' };

/**
 * Ties `finalize` to the end of a stream: it runs exactly once however the stream ends, also when the reader leaves
 * before the first read. A generator's `finally` would not: `return()` on a generator that never started skips it.
 *
 * The end is reported only after `finalize` has settled. What `finalize` throws reaches the reader, unless the source's
 * own failure does.
 */
export function finalizing<T>(
  source: AsyncIterator<T>,
  finalize: (end: StreamEnd) => void | Promise<void>,
): AsyncIterableIterator<T> {
  return new FinalizedStream(source, finalize);
}

const FINISHED: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** A class, because this stands between every streamed answer and its client. */
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
    // The source may wait for its upstream; the end must not wait for the source.
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
 * An iterator that is yet to come: its first step brings it about. Whoever leaves before that is not waited for; the
 * iterator is left as soon as it is there.
 */
export function eventually<T>(
  open: () => Promise<AsyncIterator<T>>,
): Required<Pick<AsyncIterator<T>, 'next' | 'return'>> {
  let source: AsyncIterator<T> | undefined;
  let isLeft = false;
  const begin = async (): Promise<IteratorResult<T>> => {
    source = await open();
    if (!isLeft) return source.next();
    leave(source);
    return { done: true, value: undefined };
  };
  return {
    next: () => source?.next() ?? begin(),
    async return() {
      isLeft = true;
      await source?.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** Returns an iterator that nobody will read on, without waiting for it. Its owner reports what goes wrong then. */
export function leave(source: AsyncIterator<unknown>): void {
  try {
    source.return?.()?.then(undefined, () => undefined);
  } catch {
    // As above.
  }
}

/** Rejects with the signal's reason as soon as it is aborted; `work` may go on for a while, unheard. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    work.catch(() => undefined);
  }
}
