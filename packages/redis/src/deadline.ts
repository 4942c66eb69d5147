/** How long a call may still take. */
export interface Deadline {
  left(): number;
}

export function createDeadline(timeoutMs: number): Deadline {
  const end = performance.now() + timeoutMs;
  return { left: () => Math.max(0, end - performance.now()) };
}

/**
 * Settles as `promise` does, unless the deadline or the signal comes first; what comes later is dropped.
 * @param late makes the rejection of a missed deadline.
 */
export function within<T>(
  promise: Promise<T>,
  deadline: Deadline,
  late: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      end();
      reject(signal?.reason);
    };
    // A busy process finds its timers before the answers that have long arrived: those are read first.
    const timer = setTimeout(() => setImmediate(() => reject(late())), deadline.left());
    signal?.addEventListener('abort', abort, { once: true });
    promise.then(
      (value) => {
        end();
        resolve(value);
      },
      (error: unknown) => {
        end();
        reject(error);
      },
    );
  });
}
