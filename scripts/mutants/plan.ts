/** What one process of tests does. */
export interface Plan {
  /** The instrumented files, relative to the repository, in the order of the ids of their changes. */
  readonly files: readonly string[];
  /** The test files, as patterns. */
  readonly tests: readonly string[];
  /** Changes that need no more tests. */
  readonly done: readonly number[];
  /** A change that is active from the start of the process. */
  readonly alone?: number;
  /** Gets a line of JSON per result. */
  readonly resultsFile: string;
  /** How many tests try one change at most. Default: all that reach it. */
  readonly maxTries?: number | undefined;
  /** Holds the `Progress`. */
  readonly currentFile: string;
  /** Milliseconds of one try of a test without a change. */
  readonly timeoutMs: number;
}

/** What `currentFile` holds. */
export interface Progress {
  /** The change that is being tried; absent while a test runs without one. */
  readonly id?: number;
  /** The change before, whose work may go on. */
  readonly after?: number | undefined;
  readonly test?: string;
  /** Epoch milliseconds. */
  readonly since?: number;
}

const NAME = 'QUESTLINE_MUTANTS_PLAN';

export function readPlan(): Plan {
  return JSON.parse(process.env[NAME] ?? 'null') as Plan;
}

export function planEnvironment(plan: Plan): Record<string, string> {
  return { [NAME]: JSON.stringify(plan) };
}
