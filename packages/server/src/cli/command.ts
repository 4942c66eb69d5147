import type { Argument, Given, Option } from './arguments.ts';

/** What a command may use of the process it runs in. */
export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly print: (text: string) => void;
  /** Shows how far long work is, in place of what it showed before; an empty line at the end. Absent: nobody looks. */
  readonly showProgress?: (line: string) => void;
  /** Calls back at every request to end: SIGINT or SIGTERM. @returns stops listening. */
  readonly onEnd: (listener: () => void) => () => void;
}

export interface Command {
  /** One word, or two: `keys create`. */
  readonly name: string;
  readonly summary: string;
  /** In their order; all of them are needed. */
  readonly arguments?: readonly Argument[];
  readonly options: readonly Option[];
  /** More help, below the options. */
  readonly notes: string;
  /** Resolves when the command is done. @throws Mistake */
  run(given: Given, surroundings: Surroundings): Promise<void>;
}
