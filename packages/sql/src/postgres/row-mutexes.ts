import type { Deadline } from '../deadline.ts';
import { createMutex, type Mutex } from '../mutex.ts';

/** One mutex for each row that statements of this process change. */
export interface RowMutexes {
  /** @returns the release function. */
  lock(row: string, deadline: Deadline, signal?: AbortSignal): Promise<() => void>;
}

export function createRowMutexes(): RowMutexes {
  /** Rows without statements are absent. `users`: statements that run or wait. */
  const rows = new Map<string, { readonly mutex: Mutex; users: number }>();

  return {
    async lock(row, deadline, signal) {
      const entry = rows.get(row) ?? { mutex: createMutex('a busy row'), users: 0 };
      rows.set(row, entry);
      entry.users += 1;
      const leave = (): void => {
        entry.users -= 1;
        if (entry.users === 0) rows.delete(row);
      };
      try {
        const release = await entry.mutex.lock(deadline, signal);
        return () => {
          release();
          leave();
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}
