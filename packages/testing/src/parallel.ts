/** Starts parallel calls, alternating between the implementations, and waits for all. */
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

/** Whether a call succeeded, or was rejected because of its signal. Both are correct if the call is atomic. */
export type Attempt<T> = { readonly isDone: true; readonly value: T } | { readonly isDone: false };

/** Makes a call with a signal that is aborted before it or right after its start. */
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
