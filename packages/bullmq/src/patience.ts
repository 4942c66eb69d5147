import { StorageUnavailable } from '@questline/core';

/** Sees to it that no call waits longer than its caller can. */
export interface Patience {
  /**
   * Answers what `call` does within the time allowed. While an earlier call is still unanswered nothing is sent, so that
   * a Redis that comes back is not met by everything that was given up meanwhile.
   * @param onLate gets an answer that came when nobody waited for it any more.
   * @throws StorageUnavailable when there is no answer, or Redis cannot do it. It may have been done all the same.
   */
  run<T>(call: () => Promise<T>, onLate?: (value: T) => void): Promise<T>;
}

export function createPatience(timeoutMs: number): Patience {
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
        // A busy process finds its timers before the answers that have long arrived: those are read first.
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
            reject(isRefusal(error) ? error : new StorageUnavailable('Redis cannot do it', { cause: error }));
          },
        );
      });
    },
  };
}

/** BullMQ's word for a job that is not in the state a call needs: -1 gone, -2 no lock, -3 not active, -6 another's lock. */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' && error.code < 0;
}
