/** Timeout of every wait in a case, in milliseconds. Cases wait for events; only a broken one reaches it. */
const MAX_WAIT = 10_000;

/** Rejects with the name of the missing event instead of hanging. */
export async function within<T>(promise: Promise<T>, what: string, ms = MAX_WAIT): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A promise with its resolvers. */
export interface Signalled<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

export function signalled<T = void>(): Signalled<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  return { promise, resolve };
}

/** Resolves once a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
