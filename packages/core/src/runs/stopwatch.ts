import type { Clock } from '../ports/clock.ts';

/** Measures time by phase. */
export interface Stopwatch {
  /** Starts a phase and ends the previous one. */
  phase(name: string): void;
  /** Returns milliseconds by phase until now. */
  read(): Record<string, number>;
}

/** @param phases names that are always reported, even with 0 milliseconds. @param before milliseconds of earlier runs. */
export function createStopwatch(
  clock: Clock,
  phases: readonly string[],
  before: Readonly<Record<string, number>> = {},
): Stopwatch {
  const spent: Record<string, number> = { ...Object.fromEntries(phases.map((name) => [name, 0])), ...before };
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
