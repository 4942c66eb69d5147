type Chunk = string | Uint8Array;

/** A streamed body that a test feeds by hand. Feeding it while nothing waits for it is an error of the test. */
export function createStreamedBody() {
  const open: { resolve: (step: IteratorResult<Chunk>) => void; reject: (error: unknown) => void }[] = [];
  let asked = 0;
  let returns = 0;
  const take = () => {
    const waiting = open.shift();
    if (waiting === undefined) throw new Error('nothing waits for the body');
    return waiting;
  };
  const body: AsyncIterable<Chunk> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        asked += 1;
        return new Promise((resolve, reject) => open.push({ resolve, reject }));
      },
      async return() {
        returns += 1;
        return { done: true, value: undefined };
      },
    }),
  };
  return {
    body,
    give: (value: Chunk) => take().resolve({ done: false, value }),
    end: () => take().resolve({ done: true, value: undefined }),
    fail: () => take().reject(new Error('secret')),
    /** The numbers of requests that wait, of all requests, and of calls of `return`. */
    counts: () => ({ open: open.length, asked, returns }),
  };
}

/** Waits, within this tick, until another chunk is asked for. */
export async function untilAsked({
  counts,
}: Pick<ReturnType<typeof createStreamedBody>, 'counts'>): Promise<void> {
  for (let left = 20; counts().open === 0 && left > 0; left -= 1) await Promise.resolve();
}
