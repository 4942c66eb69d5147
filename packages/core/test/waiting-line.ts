import { createFakeClock } from '@questline/testing';
import { createLine } from '../src/runs/line.ts';

/** A line, and the number of jobs in it as the test says. */
export function openLine(max: number, hasOwners = true) {
  const clock = createFakeClock();
  const waiting = { count: 0, counts: 0, go: Promise.resolve() };
  const line = createLine({ clock, max, hasOwners }, async () => {
    waiting.counts += 1;
    const { count } = waiting;
    await waiting.go;
    return count;
  });
  /** Accepts work as far as it is admitted. @returns the waits of those that are refused. */
  const accept = async (owner: string, times = 1) => {
    const waits: number[] = [];
    for (let at = 0; at < times; at += 1) {
      const wait = await line.enter(owner);
      if (wait !== undefined) waits.push(wait);
      else {
        line.leave(true);
        waiting.count += 1;
      }
    }
    return waits;
  };
  return { clock, line, waiting, accept };
}
