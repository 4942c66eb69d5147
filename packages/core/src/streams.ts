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
