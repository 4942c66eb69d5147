/** Starts so many calls at once, in turn on each of the implementations, and waits for all. */
export function inParallel<P, T>(
  count: number,
  ports: readonly P[],
  call: (port: P, at: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(
    Array.from({ length: count }, (_, at) => {
      const port = ports[at % ports.length];
      if (port === undefined) throw new RangeError('no implementation to call');
      return call(port, at);
    }),
  );
}

/** Whether a call went through or was refused because of its signal. Either is allowed, as long as it is whole. */
export type Attempt<T> = { readonly isDone: true; readonly value: T } | { readonly isDone: false };

/** Makes a call whose signal is aborted before it, or as soon as it has begun. */
export async function aborting<T>(
  when: 'before' | 'during',
  call: (signal: AbortSignal) => Promise<T>,
): Promise<Attempt<T>> {
  const controller = new AbortController();
  if (when === 'before') controller.abort();
  const answer = call(controller.signal);
  controller.abort();
  try {
    return { isDone: true, value: await answer };
  } catch {
    return { isDone: false };
  }
}
