import { type Deadline, within } from './deadline.ts';

/** One at a time, first come first served. */
export interface Turns {
  /** @returns ends the turn; undefined when the turn is not free right now. */
  tryTake(): (() => void) | undefined;
  /** @returns ends the turn; safe to call twice. */
  take(deadline: Deadline, signal?: AbortSignal): Promise<() => void>;
}

export function createTurns(what: string): Turns {
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
    tryTake,
    async take(deadline, signal) {
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
