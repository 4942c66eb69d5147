import type { Clock } from '../ports/clock.ts';

/** Where the time of a piece of work goes. */
export interface Stopwatch {
  /** From now on the time belongs to this phase. */
  phase(name: string): void;
  /** Milliseconds by phase, up to now. */
  read(): Record<string, number>;
}

/** @param phases the names that are told even when they took no time. */
export function createStopwatch(clock: Clock, phases: readonly string[]): Stopwatch {
  const spent: Record<string, number> = Object.fromEntries(phases.map((name) => [name, 0]));
  let current: string | undefined;
  let since = clock.now();

  const add = (): void => {
    const now = clock.now();
    if (current !== undefined) spent[current] = (spent[current] ?? 0) + (now - since);
    since = now;
  };

  return {
    phase(name) {
      add();
      current = name;
    },
    read() {
      add();
      return { ...spent };
    },
  };
}
