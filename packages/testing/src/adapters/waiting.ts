/** The longest any case waits for anything, in milliseconds. Cases wait for events; this only ends a broken one. */
const LONGEST_WAIT = 10_000;

/** Fails, naming what did not happen, instead of hanging. */
export async function within<T>(promise: Promise<T>, what: string, ms = LONGEST_WAIT): Promise<T> {
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

/** A promise with its handle outside. */
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
