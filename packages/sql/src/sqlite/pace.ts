import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of statements within one turn of the event loop, before others get their turn. */
const MAX_SLICE_MS = 5;

/**
 * Statements run synchronously and their promises resolve as microtasks, so a loop of statements would stop timers and
 * connections until its end. @returns a function to call before each statement: a promise to wait for when the current
 * turn of the event loop has lasted too long.
 */
export function createPace(): () => Promise<void> | undefined {
  let startedAt: number | undefined;
  const endSlice = (): void => {
    startedAt = undefined;
  };

  const isOverdue = (): boolean => {
    const now = performance.now();
    if (startedAt === undefined) {
      startedAt = now;
      setImmediate(endSlice);
    }
    return now - startedAt >= MAX_SLICE_MS;
  };

  const pause = async (): Promise<void> => {
    do await nextTurn();
    while (isOverdue());
  };

  return () => (isOverdue() ? pause() : undefined);
}
