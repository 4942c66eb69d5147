import { StorageUnavailable } from '@questline/core/ports';

/** A call's time limit. Real time, not an injected clock: it guards against a machine that stopped answering. */
export interface Deadline {
  /** The remaining milliseconds, 0 after the deadline. */
  left(): number;
  /** The error of a call that exceeds it. */
  error(what: string): StorageUnavailable;
}

export function createDeadline(timeoutMs: number): Deadline {
  const end = performance.now() + timeoutMs;
  return {
    left: () => Math.max(0, end - performance.now()),
    error: (what) => new StorageUnavailable(`${what} took longer than ${timeoutMs} ms`),
  };
}

/**
 * Settles as `promise` does, unless the deadline or the signal comes first.
 * @param onLate receives a result after the deadline.
 */
export function within<T>(
  promise: Promise<T>,
  deadline: Deadline,
  what: string,
  { signal, onLate }: { signal?: AbortSignal | undefined; onLate?: (value: T) => void } = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = (): boolean => {
      if (isOver) return false;
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      return true;
    };
    const abort = (): void => {
      if (end()) reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      if (end()) reject(deadline.error(what));
    }, deadline.left());
    signal?.addEventListener('abort', abort);
    promise.then(
      (value) => (end() ? resolve(value) : onLate?.(value)),
      (error: unknown) => {
        if (end()) reject(error);
      },
    );
  });
}

/** Backoff with jitter, so that conflicting transactions do not conflict again. Grows with the attempt. */
export function pause(attempt: number, deadline: Deadline): Promise<void> {
  const longest = Math.min(50, 2 ** attempt);
  const ms = Math.min(deadline.left(), 0.5 + Math.random() * longest);
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
