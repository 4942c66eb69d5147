/** The switch that instrumented programs ask. */
export interface MutantSwitch {
  /** Whether the change is active. Notes that the program has come by. */
  on(id: number): boolean;
  activate(id: number | undefined): void;
  active(): number | undefined;
  /** Whether an error was not handled since the change is active. Vitest fails for it, also if its test passes. */
  hasUnhandled(): boolean;
  /** The changes that the program has come by since `clear`. */
  reached(): number[];
  clear(): void;
}

/** Installs the switch for all modules of the process. @param alone a change that is active from the start. */
export function installSwitch(alone: number | undefined): MutantSwitch {
  const holder = globalThis as { __mutants?: MutantSwitch };
  holder.__mutants ??= createSwitch();
  holder.__mutants.activate(alone);
  return holder.__mutants;
}

function createSwitch(): MutantSwitch {
  let current: number | undefined;
  let hasUnhandled = false;
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, () => {
      hasUnhandled = current !== undefined;
    });
  }
  const seen = new Set<number>();
  return {
    on(id) {
      seen.add(id);
      return id === current;
    },
    activate(id) {
      current = id;
      hasUnhandled = false;
    },
    active: () => current,
    hasUnhandled: () => hasUnhandled,
    reached: () => [...seen],
    clear: () => seen.clear(),
  };
}
