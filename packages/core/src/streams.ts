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
  let ended: Promise<void> | undefined;
  const end = (how: StreamEnd): Promise<void> => {
    ended ??= Promise.resolve(how).then(finalize);
    return ended;
  };
  const finished: IteratorReturnResult<undefined> = { done: true, value: undefined };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      if (ended !== undefined) return ended.then(() => finished);
      return source.next().then(
        (step) => (step.done === true ? end({ reason: 'done' }).then(() => finished) : step),
        (error: unknown) =>
          end({ reason: 'failed', error }).then(
            () => Promise.reject(error),
            () => Promise.reject(error),
          ),
      );
    },
    async return() {
      // The source may wait for its upstream; the end must not wait for the source.
      const stopped = source.return?.();
      try {
        await end({ reason: 'abandoned' });
      } finally {
        await stopped?.catch(() => undefined);
      }
      return finished;
    },
  };
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
