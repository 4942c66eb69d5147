import { type Deadline, within } from './deadline.ts';

/** A mutex, first come, first served. */
export interface Mutex {
  /** @returns the release function; undefined while the mutex is taken. */
  tryLock(): (() => void) | undefined;
  /** @returns the release function; a second call has no effect. */
  lock(deadline: Deadline, signal?: AbortSignal): Promise<() => void>;
}

export function createMutex(what: string): Mutex {
  const waiting: ((end: () => void) => void)[] = [];
  let isTaken = false;

  const next = (): void => {
    const first = waiting.shift();
    if (first === undefined) isTaken = false;
    else first(createEnd());
  };
  const createEnd = () => {
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      next();
    };
  };
  const tryTake = () => {
    if (isTaken) return undefined;
    isTaken = true;
    return createEnd();
  };

  return {
    tryLock: tryTake,
    async lock(deadline, signal) {
      signal?.throwIfAborted();
      const free = tryTake();
      if (free !== undefined) return free;
      const turn = new Promise<() => void>((resolve) => {
        waiting.push(resolve);
      });
      return within(turn, deadline, `waiting for ${what}`, { signal, onLate: (end) => end() });
    },
  };
}
