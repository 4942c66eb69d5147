import { StorageUnavailable } from '@questline/core/ports';

/** Bounds how long each call waits. */
export interface CallTimeout {
  /**
   * Rejects after the timeout. While an earlier call is unanswered, nothing is sent, so that Redis does not receive a
   * backlog of abandoned calls when it is back.
   * @param onLate receives a result that arrives after the timeout.
   * @throws StorageUnavailable when Redis does not answer or fails. The command may have been executed.
   */
  run<T>(call: () => Promise<T>, onLate?: (value: T) => void): Promise<T>;
}

export function createCallTimeout(timeoutMs: number): CallTimeout {
  let unanswered = 0;

  return {
    run<T>(call: () => Promise<T>, onLate?: (value: T) => void): Promise<T> {
      if (unanswered > 0) return Promise.reject(new StorageUnavailable('Redis does not answer'));
      return new Promise<T>((resolve, reject) => {
        let isLate = false;
        const giveUp = (): void => {
          isLate = true;
          unanswered += 1;
          reject(new StorageUnavailable(`Redis did not answer within ${timeoutMs} ms`));
        };
        // In a busy process timers fire before answers that have already arrived: read those first.
        let turn: NodeJS.Immediate | undefined;
        const timer = setTimeout(() => {
          turn = setImmediate(giveUp);
        }, timeoutMs);
        const end = (): void => {
          clearTimeout(timer);
          clearImmediate(turn);
          if (isLate) unanswered -= 1;
        };
        call().then(
          (value) => {
            end();
            if (isLate) onLate?.(value);
            else resolve(value);
          },
          (error: unknown) => {
            end();
            reject(isRefusal(error) ? error : new StorageUnavailable('Redis failed', { cause: error }));
          },
        );
      });
    },
  };
}

/** BullMQ's error codes for a job in another state than expected: -1 missing, -2 no lock, -3 not active, -6 other lock. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && error.code < 0;
}
