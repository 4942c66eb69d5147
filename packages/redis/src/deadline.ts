/** The remaining time of a call. */
export interface Deadline {
  left(): number;
}

export function createDeadline(timeoutMs: number): Deadline {
  const end = performance.now() + timeoutMs;
  return { left: () => Math.max(0, end - performance.now()) };
}

/**
 * Settles as `promise` does, unless the deadline or the signal comes first; what comes later is dropped.
 * @param late creates the error of a missed deadline.
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
    // A busy process runs its timers before it reads responses that have arrived: read those first.
    const timer = setTimeout(() => setImmediate(() => reject(late())), deadline.left());
    signal?.addEventListener('abort', abort);
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
