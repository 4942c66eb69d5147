import type { Clock } from '../ports/clock.ts';

/** Calls a function periodically. @returns a function that stops it. */
export function repeating(clock: Clock, everyMs: number, call: () => void): () => void {
  let cancel = clock.timer(everyMs, tick);
  function tick(): void {
    cancel = clock.timer(everyMs, tick);
    call();
  }
  return () => cancel();
}
